#include <clang/AST/StmtCXX.h>

#include "jit/clang/prove/rows_misuse.h"
#include "prove_expressions.h"

namespace op2jit {

// Loops are followed round by round up to here in all; a kernel beyond it is treated as one whose loops have
// lengths that are not known.
static constexpr int most_steps = 20000;

void Walk::kernel(const clang::FunctionDecl &function, const prove_request &request) {
  for (int i = 0; i < request.narguments; i++) {
    const auto parameter = static_cast<unsigned>(prove_parameter(&request, i));
    const bool vector = request.arguments[i].form == PROVE_VECTOR;
    state_.values[{function.getParamDecl(parameter), 0}] =
        Value::to(Place::of(i, vector ? Place::Pointers : Place::Argument));
    if (request.arguments[i].counted)
      state_.values[{function.getParamDecl(parameter - 1), 0}] = Value::of(request.arguments[i].arity);
  }
  run_body(function);
  rules_.at_exit(state_);
}

Value Walk::run_body(const clang::FunctionDecl &function) {
  Frame outer;
  std::swap(frame_, outer);
  const size_t facts = facts_.size();
  calls_.push_back(&function);
  run(function.getBody());
  calls_.pop_back();
  facts_.resize(facts);
  for (const State &state : frame_.returns)
    state_.join(state);
  Value result = frame_.values.empty() ? Value() : frame_.values.front();
  for (const Value &value : frame_.values)
    result = result.joined(value);
  for (const Value &value : frame_.values)
    if (value.kind == Value::Pointer && result.kind == Value::Unknown)
      rules_.lost(value.target, function.getLocation(), FOUND_LOST_RETURN);
  std::swap(frame_, outer);
  return result;
}

void Walk::repeat(const clang::Stmt *statement) {
  if (const auto *counts = llvm::dyn_cast<clang::ForStmt>(statement)) {
    run(counts->getInit());
    loop(statement, counts->getCond(), counts->getBody(), counts->getInc(), false);
  } else if (const auto *first = llvm::dyn_cast<clang::WhileStmt>(statement))
    loop(statement, first->getCond(), first->getBody(), nullptr, false);
  else if (const auto *last = llvm::dyn_cast<clang::DoStmt>(statement))
    loop(statement, last->getCond(), last->getBody(), nullptr, true);
  else if (const auto *each = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) {
    run(each->getInit());
    run(each->getRangeStmt());
    run(each->getBeginStmt());
    run(each->getEndStmt());
    loop(statement, each->getCond(), each, each->getInc(), false);
  }
}

void Walk::run(const clang::Stmt *statement) {
  if (!statement)
    return;
  steps_++;
  if (const auto *label = llvm::dyn_cast<clang::SwitchCase>(statement)) {
    enter_case(label);
    run(label->getSubStmt());
    return;
  }
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt *inner : block->body())
      run(inner); // also where it cannot be reached: there may be a case label
    return;
  }
  if (!state_.reachable)
    return;
  switch (statement->getStmtClass()) {
  case clang::Stmt::NullStmtClass: return;
  case clang::Stmt::DeclStmtClass:
    for (const clang::Decl *declaration : llvm::cast<clang::DeclStmt>(statement)->decls())
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration))
        declare(variable);
    return;
  case clang::Stmt::IfStmtClass: branch(llvm::cast<clang::IfStmt>(statement)); return;
  case clang::Stmt::ForStmtClass:
  case clang::Stmt::WhileStmtClass:
  case clang::Stmt::DoStmtClass:
  case clang::Stmt::CXXForRangeStmtClass: repeat(statement); return;
  case clang::Stmt::SwitchStmtClass: choose(llvm::cast<clang::SwitchStmt>(statement)); return;
  case clang::Stmt::ReturnStmtClass: {
    const clang::Expr *result = llvm::cast<clang::ReturnStmt>(statement)->getRetValue();
    const Value returned = result ? bounded(value(result)) : Value();
    frame_.returns.push_back(state_);
    frame_.values.push_back(returned);
    state_.reachable = false;
    return;
  }
  case clang::Stmt::BreakStmtClass:
  case clang::Stmt::ContinueStmtClass:
    if (!frame_.jumps.empty()) {
      const bool leaves = statement->getStmtClass() == clang::Stmt::BreakStmtClass;
      (leaves ? frame_.jumps.back().breaks : frame_.jumps.back().continues).push_back(state_);
    }
    state_.reachable = false;
    return;
  case clang::Stmt::LabelStmtClass: run(llvm::cast<clang::LabelStmt>(statement)->getSubStmt()); return;
  case clang::Stmt::AttributedStmtClass:
    run(llvm::cast<clang::AttributedStmt>(statement)->getSubStmt());
    return;
  default: break;
  }
  if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement))
    value(expression);
  else
    rules_.lost_all(statement->getBeginLoc(), FOUND_LOST_STATEMENT);
}

void Walk::branch(const clang::IfStmt *statement) {
  const Number known = value(statement->getCond()).as_number();
  const size_t facts = facts_.size();
  State other = state_;
  if (!known || *known) {
    learn(statement->getCond(), true);
    run(statement->getThen());
    facts_.resize(facts);
  }
  State after_then = state_;
  if (known && *known)
    return;
  state_ = std::move(other);
  learn(statement->getCond(), false);
  run(statement->getElse());
  facts_.resize(facts);
  if (known)
    return;
  // Where one way ends, what follows is on the other.
  if (after_then.reachable != state_.reachable)
    learn(statement->getCond(), after_then.reachable);
  state_.join(after_then);
}

void Walk::body_of_loop(const clang::Stmt *body, const clang::Expr *step) {
  const size_t facts = facts_.size();
  const auto *range = llvm::dyn_cast<clang::CXXForRangeStmt>(body);
  const bool each = range && step && range->getInc() == step; // this loop's own, not one within it
  if (each)
    run(range->getLoopVarStmt());
  run(each ? range->getBody() : body);
  facts_.resize(facts);
  std::vector<State> continues;
  std::swap(continues, frame_.jumps.back().continues);
  for (const State &state : continues)
    state_.join(state);
  if (step && state_.reachable)
    value(step);
}

// Loops that may go on for ever are not refused: an iteration ends when it has converged.
void Walk::note_length(const clang::Stmt *whole, const clang::Expr *condition, Number known) {
  const bool endless = !condition || llvm::isa<clang::IntegerLiteral>(condition->IgnoreParenImpCasts());
  if (endless || !known)
    rules_.whole(PROVE_UNKNOWN, endless ? FOUND_ENDLESS : FOUND_ROUNDS, whole->getBeginLoc());
}

// Round by round as long as the condition's value is known.
void Walk::loop(const clang::Stmt *whole, const clang::Expr *condition, const clang::Stmt *body,
                const clang::Expr *step, bool body_first) {
  frame_.jumps.emplace_back();
  for (bool first = true; state_.reachable; first = false) {
    if (!(first && body_first)) {
      const State before = state_;
      const Number known = condition ? value(condition).as_number() : Number(1);
      if (known && !*known)
        break;
      const bool undecided = !frame_.jumps.back().breaks.empty() && steps_ > most_steps / 4;
      if (!known || steps_ > most_steps || undecided || !condition) {
        note_length(whole, condition, known);
        state_ = before;
        each(whole, [this](const clang::Stmt *part) { forget_assigned(part); });
        endless_loop(condition, body, step);
        break;
      }
    }
    body_of_loop(body, step);
  }
  std::vector<State> breaks = std::move(frame_.jumps.back().breaks);
  frame_.jumps.pop_back();
  for (const State &state : breaks)
    state_.join(state);
}

// Once, for all rounds: what the loop assigns is not known, and it may not run at all.
void Walk::endless_loop(const clang::Expr *condition, const clang::Stmt *body, const clang::Expr *step) {
  if (condition)
    value(condition);
  State before = state_;
  const size_t facts = facts_.size();
  uncertain_++;
  if (condition)
    learn(condition, true);
  body_of_loop(body, step);
  facts_.resize(facts);
  uncertain_--;
  if (condition)
    state_.join(before);
  else
    state_.reachable = false; // left only by its breaks
}

void Walk::forget_target(const clang::Expr *target) {
  const clang::QualType type = target->getType();
  for (;;) {
    target = target->IgnoreParenCasts();
    const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(target);
    const auto *part = llvm::dyn_cast<clang::MemberExpr>(target);
    if (!item && !part)
      break;
    target = item ? item->getBase()->IgnoreParenCasts() : part->getBase()->IgnoreParenCasts();
    if (target->getType()->isPointerType()) { // what it points to is assigned, it itself is not
      lose_escaped(type, target->getExprLoc());
      return;
    }
  }
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(target)) {
    // Writes through a pointer that is lost are not seen.
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl()))
      lose(variable, target->getExprLoc());
  } else if (llvm::isa<clang::UnaryOperator>(target))
    lose_escaped(type, target->getExprLoc());
}

void Walk::forget_assigned(const clang::Stmt *statement) {
  if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (binary->isAssignmentOp())
      forget_target(binary->getLHS());
  } else if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf)
      forget_target(unary->getSubExpr());
  } else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl *declaration : declarations->decls())
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration))
        state_.forget(variable);
  } else if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(statement)) {
    for (const clang::Expr *operand : calls->arguments()) // a helper may move it
      if (operand->getType()->isPointerType() && operand->getType()->getPointeeType()->isPointerType())
        lose_escaped(operand->getType()->getPointeeType(), operand->getExprLoc());
  }
}

void Walk::choose(const clang::SwitchStmt *statement) {
  const Number known = value(statement->getCond()).as_number();
  bool has_default = false, some_case = false;
  for (const clang::SwitchCase *label = statement->getSwitchCaseList(); label;
       label = label->getNextSwitchCase())
    if (const auto *constant = llvm::dyn_cast<clang::CaseStmt>(label))
      some_case |= known && constant->getLHS()->EvaluateKnownConstInt(context_).getExtValue() == *known;
    else
      has_default = true;
  State entry = state_;
  frame_.choices.push_back({state_, known, some_case});
  frame_.jumps.emplace_back();
  state_.reachable = false;
  const size_t facts = facts_.size();
  run(statement->getBody());
  facts_.resize(facts);
  Jumps jumps = std::move(frame_.jumps.back());
  frame_.jumps.pop_back();
  frame_.choices.pop_back();
  for (const State &state : jumps.breaks)
    state_.join(state);
  if (!frame_.jumps.empty())
    frame_.jumps.back().continues.insert(frame_.jumps.back().continues.end(), jumps.continues.begin(),
                                         jumps.continues.end());
  if (known ? !some_case && !has_default : !has_default)
    state_.join(entry);
}

void Walk::enter_case(const clang::SwitchCase *label) {
  if (frame_.choices.empty())
    return;
  const Choice &choice = frame_.choices.back();
  const auto *constant = llvm::dyn_cast<clang::CaseStmt>(label);
  if (constant && constant->getRHS()) { // a range of values
    state_.join(choice.entry);
    return;
  }
  if (choice.value && constant
          ? constant->getLHS()->EvaluateKnownConstInt(context_).getExtValue() != *choice.value
          : choice.value && choice.some_case)
    return;
  state_.join(choice.entry);
}

} // namespace op2jit

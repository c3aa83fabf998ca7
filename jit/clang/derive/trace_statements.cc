// Statements of a kernel's text, and calls, whose bodies are statements.
#include "jit/clang/front.h"
#include "trace.h"

namespace op2jit::derive {

void Trace::run_list(llvm::ArrayRef<const clang::Stmt *> list) {
  for (size_t i = 0; i < list.size() && !refused(); i++) {
    run(list[i]);
    Node *stop = stopped();
    if (stop->op == Op::Number && !stop->number)
      continue;
    if (i + 1 < list.size())
      go_on(stop, [&] { run_list(list.slice(i + 1)); });
    return;
  }
}

void Trace::run(const clang::Stmt *statement) {
  if (!statement || refused())
    return;
  if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement)) {
    value(expression);
    return;
  }
  if (const auto *list = llvm::dyn_cast<clang::CompoundStmt>(statement))
    return run_list(llvm::ArrayRef<const clang::Stmt *>(list->body_begin(), list->size()));
  if (const auto *declares = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl *one : declares->decls())
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(one))
        declare(variable);
    return;
  }
  if (const auto *chooses = llvm::dyn_cast<clang::IfStmt>(statement)) {
    Node *guard = truth(chooses->getCond());
    branch(
        guard, [&] { run(chooses->getThen()); }, [&] { run(chooses->getElse()); });
    return;
  }
  if (const auto *rounds = llvm::dyn_cast<clang::ForStmt>(statement)) {
    run(rounds->getInit());
    return repeat(rounds->getCond(), rounds->getInc(), rounds->getBody(), false);
  }
  if (const auto *rounds = llvm::dyn_cast<clang::WhileStmt>(statement))
    return repeat(rounds->getCond(), nullptr, rounds->getBody(), false);
  if (const auto *rounds = llvm::dyn_cast<clang::DoStmt>(statement))
    return repeat(rounds->getCond(), nullptr, rounds->getBody(), true);
  if (llvm::isa<clang::BreakStmt>(statement))
    return jump(Jump::Break, statement->getBeginLoc());
  if (llvm::isa<clang::ContinueStmt>(statement))
    return jump(Jump::Continue, statement->getBeginLoc());
  if (const auto *gives = llvm::dyn_cast<clang::ReturnStmt>(statement))
    return give_back(gives);
  if (const auto *chooses = llvm::dyn_cast<clang::SwitchStmt>(statement))
    return choose(chooses);
  if (const auto *with = llvm::dyn_cast<clang::AttributedStmt>(statement))
    return run(with->getSubStmt());
  if (llvm::isa<clang::NullStmt>(statement))
    return;
  const bool goes = llvm::isa<clang::GotoStmt>(statement) || llvm::isa<clang::IndirectGotoStmt>(statement) ||
                    llvm::isa<clang::LabelStmt>(statement);
  refuse(goes ? DERIVE_GOTO : DERIVE_STATEMENT, statement->getBeginLoc(), statement->getStmtClassName());
}

void Trace::repeat(const clang::Expr *condition, const clang::Expr *step, const clang::Stmt *body,
                   bool body_first) {
  const auto once = [&] { run(body); };
  const auto goes = [&] { return condition ? truth(condition) : builder_.integer(1); };
  const auto next = [&] {
    if (step)
      value(step);
  };
  loop({once, next, goes, body_first, body->getBeginLoc(),
        condition ? condition->getExprLoc() : clang::SourceLocation()});
}

void Trace::declare(const clang::VarDecl *variable) {
  if (variable->hasGlobalStorage())
    return;
  if (variable->getType()->isVariablyModifiedType())
    return refuse(DERIVE_TYPE, variable->getLocation(), variable->getType().getAsString());
  Object *made = object(Object::Local, variable->getName().str(),
                        leaves_of(variable->getType(), variable->getLocation()));
  frames_.back().variables[variable] = made;
  if (variable->getInit() && !refused())
    initialise({made, builder_.integer(0), builder_.integer(0)}, variable->getInit(), variable->getType());
}

void Trace::jump(Jump::Kind kind, clang::SourceLocation where) {
  for (size_t i = jumps_.size(); i > frames_.back().jumps; i--)
    if (jumps_[i - 1].kind == kind)
      return set_flag(jumps_[i - 1].object, builder_.integer(1));
  refuse(DERIVE_STATEMENT, where, "a jump");
}

void Trace::give_back(const clang::ReturnStmt *statement) {
  Object *result = frames_.back().result;
  if (const clang::Expr *what = statement->getRetValue()) {
    const Value given = value(what);
    if (given.kind == Value::Record)
      for (size_t i = 0; i < given.leaves.size(); i++)
        state_[{result->id, static_cast<int64_t>(i) + 1}] = given.leaves[i];
    else if (given.kind != Value::None)
      state_[{result->id, 1}] = given;
  }
  set_flag(result->id, builder_.integer(1));
}

// Labels stand at the statements of the body itself. From the one that fits on, all runs up to a break.
void Trace::choose(const clang::SwitchStmt *statement) {
  Node *on = scalar(statement->getCond());
  const auto *body = llvm::dyn_cast<clang::CompoundStmt>(statement->getBody());
  if (!body) // OP_ANY_ORDER, in front of a loop
    if (const auto *only = llvm::dyn_cast<clang::DefaultStmt>(statement->getBody()))
      return run(only->getSubStmt());
  if (!body)
    return refuse(DERIVE_STATEMENT, statement->getBeginLoc(), "a switch without braces");
  new_jump(Jump::Break);
  Node *none = builder_.integer(1), *running = builder_.integer(0);
  const auto is = [&](const clang::Expr *label) {
    const Value number = constant(label);
    return builder_.binary(Op::Eq, Type::Int, on,
                           builder_.cast(on->type, number.node ? number.node : builder_.integer(0)));
  };
  for (const clang::SwitchCase *label = statement->getSwitchCaseList(); label;
       label = label->getNextSwitchCase())
    if (const auto *one = llvm::dyn_cast<clang::CaseStmt>(label)) {
      if (one->caseStmtIsGNURange())
        return refuse(DERIVE_STATEMENT, one->getBeginLoc(), "a range of cases");
      none = builder_.binary(Op::Both, Type::Int, none, builder_.negated(is(one->getLHS())));
    }
  unsigned labels = 0, met = 0;
  for (const clang::SwitchCase *label = statement->getSwitchCaseList(); label;
       label = label->getNextSwitchCase())
    labels++;
  for (const clang::Stmt *one : body->body()) {
    while (const auto *label = llvm::dyn_cast<clang::SwitchCase>(one)) {
      const auto *with = llvm::dyn_cast<clang::CaseStmt>(label);
      running = builder_.binary(Op::Either, Type::Int, running, with ? is(with->getLHS()) : none);
      one = label->getSubStmt();
      met++;
    }
    go_on(stopped(), [&] {
      branch(
          running, [&] { run(one); }, [] {});
    });
  }
  if (met != labels)
    refuse(DERIVE_STATEMENT, statement->getBeginLoc(), "a case within another statement");
  jumps_.pop_back();
}

// ---- calls: helpers are followed, functions of <math.h> are operations ----

static constexpr size_t most_frames = 64;

Value Trace::call(const clang::CallExpr *expression) {
  const clang::FunctionDecl *function = expression->getDirectCallee();
  const clang::FunctionDecl *definition = nullptr;
  if (!function)
    return no_value(DERIVE_NO_RULE, expression->getExprLoc(), "a pointer to a function");
  if (name_of(function) != "op2jit_exp" && function->hasBody(definition))
    return inlined(expression, *definition);
  return outside(expression, *function);
}

Value Trace::inlined(const clang::CallExpr *expression, const clang::FunctionDecl &function) {
  std::vector<Value> given;
  for (const clang::Expr *argument : expression->arguments())
    given.push_back(value(argument));
  if (frames_.size() > most_frames || function.isVariadic())
    refuse(DERIVE_NO_RULE, expression->getExprLoc(), function.getName().str());
  const clang::QualType type = expression->getType();
  Object *result = object(Object::Local, "", {{Type::Int, false, ""}});
  if (!type->isVoidType())
    for (const Leaf &leaf : leaves_of(type, expression->getExprLoc()))
      result->leaves.push_back(leaf);
  frames_.push_back({&function, result, jumps_.size(), {}});
  for (unsigned i = 0; i < function.getNumParams() && i < given.size() && !refused(); i++) {
    const clang::ParmVarDecl *parameter = function.getParamDecl(i);
    Object *made = object(Object::Local, parameter->getName().str(),
                          leaves_of(parameter->getType(), parameter->getLocation()));
    frames_.back().variables[parameter] = made;
    store({made, builder_.integer(0), builder_.integer(0)}, given[i], parameter->getType(),
          parameter->getLocation());
  }
  set_flag(result->id, builder_.integer(0));
  jumps_.push_back({Jump::Return, result->id});
  run(function.getBody());
  jumps_.resize(frames_.back().jumps);
  frames_.pop_back();
  if (type->isVoidType())
    return {};
  const Place at = {result, builder_.integer(0), builder_.integer(1)};
  return load(at, type, expression->getExprLoc());
}

// memcpy and its like, of whole values.
bool Trace::memory(const clang::CallExpr *expression, llvm::StringRef name, Value &result) {
  const bool sets = name == "memset", copies = name == "memcpy" || name == "memmove";
  if ((!sets && !copies) || expression->getNumArgs() != 3)
    return false;
  const clang::Expr *to = expression->getArg(0)->IgnoreParenImpCasts(),
                    *from = expression->getArg(1)->IgnoreParenImpCasts();
  const clang::SourceLocation where = expression->getExprLoc();
  result = value(expression->getArg(0));
  const Value source = value(expression->getArg(1));
  Node *bytes = scalar(expression->getArg(2));
  const auto pointee = [&](const clang::Expr *one) {
    const clang::QualType type = one->getType();
    const auto *array = context_.getAsArrayType(type);
    return array ? array->getElementType() : type->isPointerType() ? type->getPointeeType() : type;
  };
  const clang::QualType type = pointee(to);
  const bool same = sets ? source.node && source.node->is_number(0)
                         : pointee(from).getCanonicalType().getUnqualifiedType() ==
                               type.getCanonicalType().getUnqualifiedType();
  if (type->isVoidType() || type->isIncompleteType() || !same || bytes->op != Op::Number ||
      !result.place.object) {
    refuse(DERIVE_POINTER_CAST, where, name.str());
    return true;
  }
  const int64_t size = context_.getTypeSizeInChars(type).getQuantity();
  const std::vector<Leaf> leaves = leaves_of(type, where);
  std::vector<Value> all;
  if (size == 0 || bytes->number % size)
    refuse(DERIVE_POINTER_CAST, where, name.str());
  for (int64_t i = 0; i < bytes->number / (size ? size : 1) && !refused(); i++)
    if (sets)
      for (const Leaf &leaf : leaves)
        all.push_back(Value::of(builder_.zero(leaf.type)));
    else
      all.push_back(load(element(source.place, builder_.integer(i), type), type, where));
  const int64_t step = sets ? 1 : static_cast<int64_t>(leaves.size());
  for (size_t i = 0; i < all.size() && !refused(); i++)
    store(moved(builder_, result.place, static_cast<int64_t>(i) * step), all[i], type, where);
  return true;
}

static bool has_no_say(llvm::StringRef name) {
  return name == "printf" || name == "__builtin_printf" || name == "op2jit_assert_failed" ||
         name == "__builtin_trap";
}

Value Trace::outside(const clang::CallExpr *expression, const clang::FunctionDecl &function) {
  llvm::StringRef name = name_of(&function);
  Value result;
  if (name == "__builtin_expect" || name == "__builtin_expect_with_probability")
    return value(expression->getArg(0));
  if (name == "__builtin_assume" || name == "__builtin_unreachable")
    return {};
  name.consume_front("__builtin_");
  if (name == "inf" || name == "inff" || name == "huge_val" || name == "huge_valf" || name == "nan" ||
      name == "nanf")
    return constant(expression);
  if (memory(expression, name, result))
    return result;
  std::vector<Node *> in;
  for (const clang::Expr *argument : expression->arguments()) {
    const Value given = value(argument);
    if (given.kind == Value::Scalar)
      in.push_back(given.node);
    else if (!has_no_say(name))
      refuse(DERIVE_NO_RULE, expression->getExprLoc(), name.str());
  }
  if (has_no_say(name))
    return Value::of(builder_.integer(0));
  if (name == "op2jit_exp")
    name = "exp";
  const clang::QualType type = expression->getType();
  if (type->isVoidType() || refused() || !is_function(std::string_view(name.data(), name.size())))
    return no_value(DERIVE_NO_RULE, expression->getExprLoc(), name.str());
  return Value::of(builder_.call(name.str().c_str(), type_of(type, expression->getExprLoc()), std::move(in)));
}

} // namespace op2jit::derive

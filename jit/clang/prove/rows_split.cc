// Loops over an element's targets whose steps threads may share, with what they change outside of themselves, as far as the
// steps may come in any order: sums, products and extrema.
#include <clang/AST/Stmt.h>
#include <clang/Basic/Builtins.h>

#include <vector>

#include "jit/clang/front.h"
#include "rows_misuse.h"

namespace op2jit {
namespace {

using clang::BinaryOperator;
using clang::Expr;
using clang::QualType;
using clang::Stmt;
using clang::UnaryOperator;
using clang::VarDecl;

// The target of an assignment, ++ or --: a variable, an element of an array, a member; or the target of a pointer.
struct Target {
  const Expr *at; // the variable, or the pointer
  bool pointed = false, member = false;
  int indices = 0;
  const VarDecl *variable() const {
    return variable_of(at);
  }
};

Target target_of(const Expr *place) {
  Target target = {place};
  for (;;) {
    target.at = target.at->IgnoreParens();
    const auto *member = llvm::dyn_cast<clang::MemberExpr>(target.at);
    const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(target.at);
    const auto *star = llvm::dyn_cast<UnaryOperator>(target.at);
    const bool follows = element || (star && star->getOpcode() == clang::UO_Deref);
    if (!follows && !(member && !member->isArrow()))
      return target;
    target.at = member ? member->getBase()
                       : (element ? element->getBase() : star->getSubExpr())->IgnoreParenImpCasts();
    target.member |= member != nullptr;
    target.pointed = follows && !(element && target.at->getType()->isArrayType());
    target.indices += element && !target.pointed;
    if (target.pointed)
      return target;
  }
}

// The place that a statement changes; NULL: none.
const Expr *changed_by(const Stmt *part) {
  const auto *binary = llvm::dyn_cast<BinaryOperator>(part);
  const auto *unary = llvm::dyn_cast<UnaryOperator>(part);
  return binary && binary->isAssignmentOp()         ? binary->getLHS()
         : unary && unary->isIncrementDecrementOp() ? unary->getSubExpr()
                                                    : nullptr;
}

// A sum, or one that a double holds.
bool is_number(QualType type) {
  return type->isRealType() && !type->isBooleanType() && !type->isEnumeralType() && type->isBuiltinType();
}

class Loop {
public:
  Loop(const KernelText &text, const clang::ParentMap &parents, const clang::ForStmt *loop)
      : text_(text), parents_(parents), loop_(loop) {
    each(loop, [&](const Stmt *part) {
      if (const auto *declared = llvm::dyn_cast<clang::DeclStmt>(part))
        for (const clang::Decl *one : declared->decls())
          own_.insert(one);
    });
  }

  // Why it cannot be shared; else `found` has it.
  split_why look() {
    if (!head())
      return WHY_FORM;
    each(loop_->getBody(), [&](const Stmt *part) { leaves(part); });
    if (!why_)
      each(loop_->getBody(), [&](const Stmt *part) { changes(part); });
    if (!why_)
      uses();
    return why_;
  }

  split_loop found = {};
  std::set<const Stmt *> rows; // handles of rows that belong to the step

private:
  static bool is_name(const Stmt *part, const VarDecl *variable) {
    return llvm::isa<clang::DeclRefExpr>(part) && variable_of(part) == variable;
  }
  void refuse(bool is_so, split_why why) {
    if (is_so && !why_)
      why_ = why;
  }

  // ---- for (int k = 0; k < n; k++) ----

  bool is_counter_type(QualType type) const {
    return type->isIntegerType() && is_number(type) && text_.context.getTypeSize(type) >= 32;
  }

  // n, or a constant that is n. Nothing changes either.
  bool is_bound(const Expr *bound) const {
    const VarDecl *number = variable_of(bound);
    if (number && !llvm::isa<clang::ParmVarDecl>(number)) {
      if (!number->isLocalVarDecl() || !number->getType().isConstQualified() || !number->getInit() ||
          !is_counter_type(number->getType()))
        return false;
      number = variable_of(number->getInit());
    }
    bool steady = number && text_.is_number_of_targets(number);
    each(text_.kernel.getBody(), [&](const Stmt *part) {
      const auto *unary = llvm::dyn_cast<UnaryOperator>(part);
      const bool address = unary && unary->getOpcode() == clang::UO_AddrOf;
      const Expr *changed = address ? unary->getSubExpr() : changed_by(part);
      steady = steady && !(changed && variable_of(changed) == number);
    });
    return steady;
  }

  static const clang::IntegerLiteral *is_literal(const Expr *expression, unsigned value) {
    const auto *number =
        expression ? llvm::dyn_cast<clang::IntegerLiteral>(expression->IgnoreParenImpCasts()) : nullptr;
    return number && number->getValue() == value ? number : nullptr;
  }

  bool is_step(const Expr *step) const {
    const auto *one = llvm::dyn_cast_or_null<UnaryOperator>(step);
    const auto *sum = llvm::dyn_cast_or_null<clang::CompoundAssignOperator>(step);
    if (one && one->isIncrementOp())
      return variable_of(one->getSubExpr()) == counter_;
    return sum && sum->getOpcode() == clang::BO_AddAssign && is_literal(sum->getRHS(), 1) &&
           variable_of(sum->getLHS()) == counter_;
  }

  bool head() {
    const auto *declared = llvm::dyn_cast_or_null<clang::DeclStmt>(loop_->getInit());
    const auto *condition = llvm::dyn_cast_or_null<BinaryOperator>(loop_->getCond());
    counter_ =
        declared && declared->isSingleDecl() ? llvm::dyn_cast<VarDecl>(declared->getSingleDecl()) : nullptr;
    const clang::IntegerLiteral *zero = counter_ ? is_literal(counter_->getInit(), 0) : nullptr;
    if (!zero || !is_counter_type(counter_->getType()) || counter_->getType().isConstQualified() ||
        !condition || condition->getOpcode() != clang::BO_LT ||
        variable_of(condition->getLHS()) != counter_ || !is_bound(condition->getRHS()) ||
        !is_step(loop_->getInc()))
      return false;
    found.all = {text_.place(loop_->getBeginLoc()), text_.end_of(loop_)};
    found.zero = text_.range(zero->getSourceRange());
    found.step = text_.range(loop_->getInc()->getSourceRange());
    found.counter = text_.range(counter_->getLocation());
    const auto marked = text_.any_order.find(found.all.begin);
    if (marked != text_.any_order.end())
      found.all.begin = marked->second;
    return found.all.begin >= 0 && found.all.end >= 0 && found.zero.begin >= 0 && found.step.begin >= 0 &&
           found.counter.begin >= 0;
  }

  // ---- what leaves it, and addresses ----

  bool is_written_entry(const VarDecl *variable) const {
    const int argument = variable ? text_.argument(variable) : -1;
    return argument >= 0 && text_.request.arguments[argument].own;
  }

  bool is_own_address(const Expr *place) const {
    const Target target = target_of(place);
    const VarDecl *variable = target.variable();
    if (const Row row = target.pointed ? row_at(text_, target.at) : Row())
      return llvm::isa_and_nonnull<clang::ParmVarDecl>(variable_of(row.handle)) &&
             !is_written_entry(variable_of(row.handle));
    return !target.pointed && variable && variable != counter_ && own_.count(variable) &&
           !text_.context.getBaseElementType(variable->getType())->isPointerType();
  }

  // Through `const T *` it changes nothing.
  bool may_change(const clang::CallExpr *call) const {
    const clang::FunctionDecl *callee = text_.own_function(call->getDirectCallee());
    return callee && llvm::any_of(callee->parameters(), [](const clang::ParmVarDecl *parameter) {
             const QualType to = parameter->getType()->getPointeeType();
             return !to.isNull() && (!to.isConstQualified() || to->isPointerType());
           });
  }

  void leaves(const Stmt *part) {
    const auto *unary = llvm::dyn_cast<UnaryOperator>(part);
    const auto *call = llvm::dyn_cast<clang::CallExpr>(part);
    refuse(llvm::isa<clang::BreakStmt, clang::ReturnStmt, clang::SwitchStmt>(part), WHY_LEAVES);
    refuse(unary && unary->getOpcode() == clang::UO_AddrOf && !is_own_address(unary->getSubExpr()),
           WHY_ADDRESS);
    refuse(call && may_change(call), WHY_CHANGES);
  }

  // ---- what it changes ----

  // A value of the step's own, or a row that no other step has.
  bool is_own_change(const Target &target) const {
    const Row row = target.pointed ? row_at(text_, target.at) : Row();
    return target.pointed
               ? row && is_written_entry(variable_of(row.handle)) && variable_of(row.index) == counter_
               : target.variable() && target.variable() != counter_ && own_.count(target.variable());
  }

  // Not a part of another expression.
  bool is_whole_statement(const Stmt *change) const {
    const Stmt *around = parents_.getParentIgnoreParens(const_cast<Stmt *>(change));
    const auto *choice = llvm::dyn_cast_or_null<clang::IfStmt>(around);
    const auto *loop = llvm::dyn_cast_or_null<clang::ForStmt>(around);
    return llvm::isa_and_nonnull<clang::CompoundStmt>(around) || (loop && loop->getBody() == change) ||
           (choice && (choice->getThen() == change || choice->getElse() == change));
  }

  // A variable outside of the loop whose values can be put together.
  bool read_variable(const Target &target, split_result &result, QualType &type) const {
    const VarDecl *variable = target.variable();
    const auto *parameter = llvm::dyn_cast_or_null<clang::ParmVarDecl>(variable);
    if (!variable || target.member || own_.count(variable))
      return false;
    if (target.pointed) {
      const int argument = parameter ? text_.argument(parameter) : -1;
      if (argument < 0 || !text_.request.arguments[argument].adds || target.indices)
        return false;
      type = parameter->getType()->getPointeeType();
      result.count = text_.request.arguments[argument].dim;
    } else {
      const auto *array = text_.context.getAsConstantArrayType(variable->getType());
      if (parameter || !variable->isLocalVarDecl() || target.indices != (array ? 1 : 0))
        return false;
      type = array ? array->getElementType() : variable->getType();
      result.count = array && array->getSize().ule(INT16_MAX)
                         ? static_cast<int>(array->getSize().getZExtValue())
                         : array == nullptr;
    }
    result.address = target.pointed || target.indices;
    return is_number(type) && !type.isConstQualified() && text_.context.getTypeSize(type) <= 64 &&
           result.count > 0;
  }

  // `s = fmax(s, e)`: all values of s survive that, or threads without a step have others.
  bool is_extreme(const BinaryOperator *assignment, QualType type, split_result &result) const {
    static const struct {
      unsigned number;
      split_kind kind;
      bool single;
    } known[] = {{clang::Builtin::BIfmax, SPLIT_MOST, false},
                 {clang::Builtin::BIfmaxf, SPLIT_MOST, true},
                 {clang::Builtin::BIfmin, SPLIT_LEAST, false},
                 {clang::Builtin::BIfminf, SPLIT_LEAST, true}};
    const auto *call = llvm::dyn_cast<clang::CallExpr>(assignment->getRHS()->IgnoreParenImpCasts());
    const clang::FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    for (const auto &one : known) {
      if (!callee || text_.own_function(callee) || callee->getBuiltinID() != one.number)
        continue;
      result.kind = one.kind;
      const bool survives = one.single ? text_.context.hasSameUnqualifiedType(type, text_.context.FloatTy)
                                       : type->isFloatingType() || text_.context.getTypeSize(type) < 64;
      return survives && (is_same(call->getArg(0), assignment->getLHS(), text_.context) ||
                          is_same(call->getArg(1), assignment->getLHS(), text_.context));
    }
    return false;
  }

  split_why add(const split_result &result, const VarDecl *variable, int names) {
    for (size_t i = 0; i < sums_.size(); i++)
      if (sums_[i] == variable) {
        names_[i] += names;
        return found.results[i].kind == result.kind ? WHY_NOT_LOOKED_AT : WHY_SEVERAL;
      }
    if (found.nresults == SPLIT_RESULTS || result.count > 16)
      return WHY_MANY;
    sums_.push_back(variable);
    names_.push_back(names);
    found.results[found.nresults++] = result;
    return WHY_NOT_LOOKED_AT;
  }

  split_why sum(const Stmt *change, const Target &target) {
    const auto *binary = llvm::dyn_cast<BinaryOperator>(change);
    const bool assigns = binary && binary->getOpcode() == clang::BO_Assign;
    split_result result = {};
    QualType type;
    if (!read_variable(target, result, type))
      return WHY_OTHER;
    if (!is_whole_statement(change))
      return WHY_PART;
    if (assigns ? !is_extreme(binary, type, result)
                : binary && !(binary->getOpcode() == clang::BO_AddAssign ||
                              binary->getOpcode() == clang::BO_SubAssign ||
                              binary->getOpcode() == clang::BO_MulAssign))
      return WHY_ORDER;
    if (!assigns)
      result.kind = binary && binary->getOpcode() == clang::BO_MulAssign ? SPLIT_PRODUCT : SPLIT_SUM;
    if (!assigns && binary && type->isIntegerType() &&
        !binary->getRHS()->IgnoreParenImpCasts()->getType()->isIntegerType())
      return WHY_FRACTIONS;
    result.name = text_.range(text_.context.getSourceManager().getSpellingLoc(target.at->getExprLoc()));
    if (result.name.begin < 0)
      return WHY_MACRO;
    return add(result, target.variable(), assigns ? 2 : 1);
  }

  void changes(const Stmt *part) {
    const Expr *changed = changed_by(part);
    if (changed && !why_ && !is_own_change(target_of(changed)))
      why_ = sum(part, target_of(changed));
  }

  // ---- nothing else in it uses a sum, and nowhere does a pointer lead to one ----

  void uses() {
    for (size_t i = 0; i < sums_.size(); i++) {
      int names = 0;
      each(loop_, [&](const Stmt *part) { names += is_name(part, sums_[i]); });
      refuse(names != names_[i], WHY_USED);
      each(text_.kernel.getBody(), [&](const Stmt *part) {
        const auto *address =
            llvm::dyn_cast_or_null<UnaryOperator>(parents_.getParentIgnoreParens(const_cast<Stmt *>(part)));
        const bool apart = found.results[i].address ? is_followed(parents_, part)
                                                    : !address || address->getOpcode() != clang::UO_AddrOf;
        refuse(is_name(part, sums_[i]) && !apart, WHY_POINTER);
      });
    }
    each(loop_->getBody(), [&](const Stmt *part) {
      const Row row = row_at(text_, part);
      if (row && variable_of(row.index) == counter_)
        rows.merge(handles_of(part));
    });
  }

  const KernelText &text_;
  const clang::ParentMap &parents_;
  const clang::ForStmt *loop_;
  const VarDecl *counter_ = nullptr;
  std::set<const clang::Decl *> own_; // declared within it
  std::vector<const VarDecl *> sums_;
  std::vector<int> names_; // how often the sum's changes name it
  split_why why_ = WHY_NOT_LOOKED_AT;
};

} // namespace

void find_loops(const KernelText &text, row_facts &out) {
  const clang::ParentMap parents(text.kernel.getBody());
  std::set<const Stmt *> entries; // in rows that belong to a step of a loop
  int done = 0;
  bool astray = false;
  out.why = text.request.any_order ? WHY_NO_LOOP : WHY_UNMARKED;
  each(text.kernel.getBody(), [&](const Stmt *part) {
    const auto *loop = llvm::dyn_cast<clang::ForStmt>(part);
    const int at = loop ? text.place(loop->getBeginLoc()) : -1;
    if (at < done || out.nloops == SPLIT_LOOPS || !(text.request.any_order || text.any_order.count(at)))
      return;
    Loop one(text, parents, loop);
    const split_why why = one.look();
    if (why) {
      out.why = why;
      return;
    }
    out.loops[out.nloops++] = one.found;
    done = one.found.all.end;
    entries.merge(one.rows);
  });
  each(text.kernel.getBody(), [&](const Stmt *part) {
    const int argument = llvm::isa<clang::DeclRefExpr>(part) ? text.argument(variable_of(part)) : -1;
    astray |= argument >= 0 && text.request.arguments[argument].own && !entries.count(part);
  });
  if (out.nloops)
    out.why = astray ? WHY_ENTRIES : WHY_NOT_LOOKED_AT;
  if (astray)
    out.nloops = 0;
}

} // namespace op2jit

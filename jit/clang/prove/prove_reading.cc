#include "prove_rules.h"

#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

#include "jit/clang/visitor.h"

namespace op2jit {
namespace {

class Reader : public Visitor {
public:
  explicit Reader(clang::ASTContext &context) : context_(context) {
  }

  std::vector<OtherReading> firsts;

private:
  void statement(clang::Stmt *part) override {
    if (const auto *size = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(part))
      look_at_size(size);
    else if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(part))
      look_at_operation(operation);
    else if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(part))
      look_at_cast(cast);
    else if (const auto *literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(part))
      found(literal->getBeginLoc(),
            literal->getType()->isArrayType() ? FOUND_ARRAY_LITERAL : FOUND_LITERAL_IN_CXX);
    else if (llvm::isa<clang::GenericSelectionExpr>(part))
      found(part->getBeginLoc(), FOUND_GENERIC_IN_CXX);
    else if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(part))
      look_at_list(list);
  }

  void declaration(clang::Decl *declaration) override {
    const auto *record = llvm::dyn_cast<clang::RecordDecl>(declaration);
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (record && record->isCompleteDefinition() && record->field_empty() && !record->isImplicit())
      found(record->getLocation(), FOUND_EMPTY_IN_CXX);
    if (variable && !llvm::isa<clang::ParmVarDecl>(variable) && variable->getType()->isVariablyModifiedType())
      found(variable->getLocation(), FOUND_VARIABLE_LENGTH);
  }

  void look_at_size(const clang::UnaryExprOrTypeTraitExpr *expression) {
    if (expression->isArgumentType())
      return;
    const clang::Expr *operand = expression->getArgumentExpr()->IgnoreParens();
    const clang::QualType there = type_there(operand);
    if (!context_.hasSameType(there, operand->getType()) &&
        context_.getTypeSizeInChars(there) != context_.getTypeSizeInChars(operand->getType()))
      found(operand->getExprLoc(), FOUND_SIZE_IN_CXX);
  }

  // Without negative values an enumeration counts as unsigned int here, and as int there.
  void look_at_operation(const clang::BinaryOperator *operation) {
    const bool order = operation->isRelationalOp(),
               part = operation->isMultiplicativeOp() && operation->getOpcode() != clang::BO_Mul;
    if ((order || part || operation->getOpcode() == clang::BO_Shr) &&
        (below_zero(operation->getLHS(), order) || below_zero(operation->getRHS(), order)) &&
        (of_enumeration(operation->getLHS()) || of_enumeration(operation->getRHS())))
      found(operation->getOperatorLoc(), FOUND_SIGN_IN_CXX);
  }

  void look_at_cast(const clang::CastExpr *cast) {
    const clang::QualType to = cast->getType();
    const bool wider = to->isIntegerType() && context_.getTypeSize(to) > context_.getTypeSize(context_.IntTy);
    if ((wider || to->isRealFloatingType()) && below_zero(cast->getSubExpr(), false) &&
        of_enumeration(cast->getSubExpr()))
      found(cast->getExprLoc(), FOUND_SIGN_IN_CXX);
  }

  // Designators as C++ does not have them; OpenCL C has some.
  void look_at_list(const clang::InitListExpr *list) {
    const clang::InitListExpr *whole = list->getSemanticForm() ? list->getSemanticForm() : list;
    const clang::RecordDecl *record =
        whole->getType().isNull() ? nullptr : whole->getType()->getAsRecordDecl();
    unsigned last = 0;
    for (const clang::Expr *init : list->inits()) {
      const auto *named = llvm::dyn_cast_or_null<clang::DesignatedInitExpr>(init);
      const clang::DesignatedInitExpr::Designator *first = named ? named->getDesignator(0) : nullptr;
      if (first && !first->isFieldDesignator())
        found(named->getBeginLoc(), FOUND_INDEX_IN_CXX);
      else if (first && record) {
        const unsigned place = place_of(*record, first->getFieldName());
        if (place < last)
          found(first->getFieldLoc(), FOUND_ORDER_IN_CXX);
        last = place;
      }
    }
  }

  static unsigned place_of(const clang::RecordDecl &record, const clang::IdentifierInfo *name) {
    unsigned place = 0;
    for (const clang::FieldDecl *field : record.fields()) {
      if (field->getIdentifier() == name)
        break;
      place++;
    }
    return place;
  }
  // The main file is the library's own.
  void found(clang::SourceLocation where, prove_found rule) {
    const bool known =
        context_.getSourceManager().isInMainFile(where) ||
        std::any_of(firsts.begin(), firsts.end(), [&](const OtherReading &one) { return one.what == rule; });
    if (!known)
      firsts.push_back({where, rule});
  }

  // 'a' and '\xff', but not L'a' or 'ab'.
  static bool is_one_plain(const clang::CharacterLiteral &character) {
    const bool plain =
        static_cast<int>(character.getKind()) == 0; // the name of this kind is not the same in all versions
    return plain && (character.getValue() <= 0xff || character.getValue() >= 0xffffff00);
  }

  // An expression's type in C++, as far as its size may be another.
  clang::QualType type_there(const clang::Expr *expression) {
    expression = expression->IgnoreParens();
    if (const auto *cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression))
      return type_there(cast->getSubExpr());
    if (const auto *character = llvm::dyn_cast<clang::CharacterLiteral>(expression))
      return is_one_plain(*character) ? context_.CharTy : expression->getType();
    if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression))
      return unary->getOpcode() == clang::UO_LNot        ? context_.BoolTy
             : unary->getOpcode() == clang::UO_Extension ? type_there(unary->getSubExpr())
                                                         : expression->getType();
    if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
      if (binary->isComparisonOp() || binary->isLogicalOp())
        return expression->getType()->isIntegerType() ? context_.BoolTy : expression->getType();
      return binary->getOpcode() == clang::BO_Comma ? type_there(binary->getRHS()) : expression->getType();
    }
    if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
      const clang::QualType yes = type_there(choice->getTrueExpr()), no = type_there(choice->getFalseExpr());
      return context_.hasSameUnqualifiedType(yes, no) ? yes : expression->getType();
    }
    return expression->getType();
  }

  // An unsigned int that an enumeration's value makes of what would be an int.
  bool of_enumeration(const clang::Expr *expression) {
    expression = expression->IgnoreParens();
    if (!context_.hasSameUnqualifiedType(expression->getType(), context_.UnsignedIntTy))
      return false;
    if (const auto *cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression)) {
      const clang::QualType from = cast->getSubExpr()->IgnoreParens()->getType();
      return from->isEnumeralType() || of_enumeration(cast->getSubExpr());
    }
    const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(expression);
    return binary && binary->isAdditiveOp() && plain(binary->getLHS()) && plain(binary->getRHS()) &&
           (of_enumeration(binary->getLHS()) || of_enumeration(binary->getRHS()));
  }
  // An int that was converted, or of an enumeration.
  bool plain(const clang::Expr *expression) {
    return of_enumeration(expression) ||
           context_.hasSameUnqualifiedType(expression->IgnoreParenImpCasts()->getType(), context_.IntTy);
  }
  // A difference; with `constants` a negative number too.
  bool below_zero(const clang::Expr *expression, bool constants) {
    const clang::Expr *bare = expression->IgnoreParenImpCasts();
    const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(bare);
    if (binary && binary->isAdditiveOp() && of_enumeration(bare))
      return binary->getOpcode() == clang::BO_Sub || below_zero(binary->getLHS(), true) ||
             below_zero(binary->getRHS(), true);
    clang::Expr::EvalResult value;
    return constants && bare->getType()->isSignedIntegerType() && bare->EvaluateAsInt(value, context_) &&
           value.Val.getInt().isNegative();
  }

  clang::ASTContext &context_;
};

} // namespace

std::vector<OtherReading> find_other_readings(clang::ASTContext &context) {
  Reader reader(context);
  reader.walk(context.getTranslationUnitDecl());
  return reader.firsts;
}

} // namespace op2jit

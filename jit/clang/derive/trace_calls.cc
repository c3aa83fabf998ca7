// Calls: helpers are followed, functions of <math.h> are operations.
#include "rules.h"
#include "trace.h"

namespace op2jit::derive {

static constexpr size_t most_frames = 64;

Value Trace::call(const clang::CallExpr *expression) {
  const clang::FunctionDecl *function = expression->getDirectCallee();
  const clang::FunctionDecl *definition = nullptr;
  if (!function) {
    refuse(DERIVE_NO_RULE, expression->getExprLoc(), "a pointer to a function");
    return Value::of(builder_.integer(0));
  }
  const bool known = function->getIdentifier() && function->getName() == "op2jit_exp";
  if (!known && function->hasBody(definition))
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
    Object *made = object(Object::Local, parameter->getName().str(), leaves_of(parameter->getType(), parameter->getLocation()));
    frames_.back().variables[parameter] = made;
    store({made, builder_.integer(0), builder_.integer(0)}, given[i], parameter->getType(), parameter->getLocation());
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
  const clang::Expr *to = expression->getArg(0)->IgnoreParenImpCasts(), *from = expression->getArg(1)->IgnoreParenImpCasts();
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
                         : pointee(from).getCanonicalType().getUnqualifiedType() == type.getCanonicalType().getUnqualifiedType();
  if (type->isVoidType() || type->isIncompleteType() || !same || bytes->op != Op::Number || !result.place.object) {
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
  for (size_t i = 0; i < all.size() && !refused(); i++) {
    Place at = result.place;
    at.offset = builder_.binary(Op::Add, at.offset->type, at.offset, builder_.integer(static_cast<int64_t>(i) * step, at.offset->type));
    store(at, all[i], type, where);
  }
  return true;
}

static bool has_no_say(llvm::StringRef name) {
  return name == "printf" || name == "__builtin_printf" || name == "op2jit_assert_failed" || name == "__builtin_trap";
}

Value Trace::outside(const clang::CallExpr *expression, const clang::FunctionDecl &function) {
  llvm::StringRef name = function.getIdentifier() ? function.getName() : "";
  Value result;
  if (name == "__builtin_expect" || name == "__builtin_expect_with_probability")
    return value(expression->getArg(0));
  if (name == "__builtin_assume" || name == "__builtin_unreachable")
    return {};
  name.consume_front("__builtin_");
  if (name == "inf" || name == "inff" || name == "huge_val" || name == "huge_valf" || name == "nan" || name == "nanf")
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
  if (type->isVoidType() || refused() || !is_function(std::string_view(name.data(), name.size()))) {
    refuse(DERIVE_NO_RULE, expression->getExprLoc(), name.str());
    return Value::of(builder_.integer(0));
  }
  return Value::of(builder_.call(name.str().c_str(), type_of(type, expression->getExprLoc()), std::move(in)));
}

} // namespace op2jit::derive

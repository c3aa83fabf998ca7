#include "vector_math.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "machine.h"

namespace op2jit {
namespace {

// The functions of glibc's libmvec for x86-64 and how far, in units of the last place, they were seen from libm's
// result over tens of millions of arguments. Within `close` they may stand for the function itself.
struct VectorFunction {
  const char *name;
  unsigned parameters, double_ulp, float_ulp;
};
constexpr VectorFunction functions[] = {
    {"acos", 1, 2, 2},  {"acosh", 1, 3, 3}, {"asin", 1, 3, 3}, {"asinh", 1, 3, 3}, {"atan", 1, 3, 3},
    {"atan2", 2, 3, 3}, {"atanh", 1, 2, 3}, {"cbrt", 1, 4, 3}, {"cos", 1, 4, 2},   {"cosh", 1, 2, 2},
    {"erf", 1, 2, 4},   {"erfc", 1, 3, 3},  {"exp", 1, 3, 3},  {"exp10", 1, 2, 4}, {"exp2", 1, 2, 2},
    {"expm1", 1, 3, 2}, {"hypot", 2, 2, 2}, {"log", 1, 2, 4},  {"log10", 1, 3, 3}, {"log1p", 1, 2, 2},
    {"log2", 1, 2, 2},  {"pow", 2, 2, 2},   {"sin", 1, 3, 2},  {"sinh", 1, 3, 2},  {"tan", 1, 3, 3},
    {"tanh", 1, 4, 3},
};
constexpr unsigned close = 2;

// "llvm.exp.f64", "exp" or "expf"; NULL if libmvec does not have the function.
const VectorFunction *find(llvm::StringRef name, bool is_float) {
  if (name.consume_front("llvm."))
    name = name.split('.').first;
  else if (is_float && !name.consume_back("f"))
    return nullptr;
  for (const VectorFunction &function : functions)
    if (name == function.name)
      return &function;
  return nullptr;
}

class OfferVectorMath : public llvm::PassInfoMixin<OfferVectorMath> {
public:
  explicit OfferVectorMath(const compile_request &request)
      : fast_(request.fp && llvm::StringRef(request.fp) == "fast"), has_(find_functions(request)) {
    // Of two forms of one width the later, better one is taken.
    for (const VectorForm &form : machine_of(request).forms)
      if (form.bits <= vector_width(request) && has_feature(request, form.feature)) {
        if (!forms_.empty() && forms_.back().bits == form.bits)
          forms_.pop_back();
        forms_.push_back(form);
      }
  }

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        mark(*call);
    return llvm::PreservedAnalyses::all();
  }

private:
  void mark(llvm::CallInst &call) {
    const llvm::Function *callee = call.getCalledFunction();
    llvm::Type *type = call.getType();
    if (!callee || !callee->isDeclaration() || !(type->isDoubleTy() || type->isFloatTy()))
      return;
    const VectorFunction *function = find(callee->getName(), type->isFloatTy());
    if (!function || (!fast_ && (type->isFloatTy() ? function->float_ulp : function->double_ulp) > close))
      return;
    std::string variants;
    for (const VectorForm &form : forms_) {
      const unsigned lanes = form.bits / type->getPrimitiveSizeInBits().getFixedValue();
      const std::string shape = std::to_string(lanes) + std::string(function->parameters, 'v') + "_";
      const std::string name = "_ZGV" + std::string(1, form.letter) + "N" + shape + function->name +
                               (type->isFloatTy() ? "f" : "");
      if (!has_(name))
        continue;
      declare(*call.getModule(), name, llvm::FixedVectorType::get(type, lanes), function->parameters);
      variants += (variants.empty() ? "" : ",");
      variants += "_ZGV_LLVM_N" + shape + callee->getName().str() + "(" + name + ")";
    }
    if (!variants.empty())
      call.addFnAttr(llvm::Attribute::get(call.getContext(), "vector-function-abi-variant", variants));
  }

  static void declare(llvm::Module &module, const std::string &name, llvm::Type *vector,
                      unsigned parameters) {
    const std::vector<llvm::Type *> types(parameters, vector);
    llvm::FunctionCallee callee =
        module.getOrInsertFunction(name, llvm::FunctionType::get(vector, types, false));
    if (auto *declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
      declared->setDoesNotThrow();
      declared->setDoesNotAccessMemory();
      declared->setWillReturn();
    }
  }

  bool fast_;
  const HasFunction has_;
  std::vector<VectorForm> forms_;
};

} // namespace

void offer_vector_math(llvm::PassBuilder &builder, const compile_request &request) {
  const bool fast = request.fp && llvm::StringRef(request.fp) == "fast";
  if (keeps_operations(request)) // a vector's function may differ from the one for one value
    return;
  if (!machine_of(request).measured && !fast)
    return;
  builder.registerVectorizerStartEPCallback(
      [&request](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(OfferVectorMath(request));
      });
}

} // namespace op2jit

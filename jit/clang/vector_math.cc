#include "passes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>

#include "back.h"

namespace op2jit {
namespace {

// The functions of glibc's libmvec and how far, for x86-64, in units of the last place, they were seen from libm's
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

llvm::FunctionCallee declare(llvm::Module &module, const std::string &name, llvm::Type *vector,
                             llvm::ArrayRef<llvm::Type *> types) {
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(vector, types, false));
  if (auto *declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    declared->setDoesNotAccessMemory();
    declared->setWillReturn();
  }
  return callee;
}

// A function of SVE takes vectors of any length and a mask; those that LLVM makes have a length. The name of what is made here,
// which takes such, calls the other, and is inlined in the end.
std::string call_masked(const llvm::Function &caller, llvm::Module &module, const std::string &masked,
                        llvm::FixedVectorType *fixed, unsigned parameters) {
  constexpr unsigned granule = 128; // bits that SVE's vectors are multiples of
  const unsigned lanes = fixed->getNumElements();
  std::string name = masked + "_" + std::to_string(lanes);
  if (module.getFunction(name))
    return name;
  llvm::LLVMContext &context = module.getContext();
  auto *vector =
      llvm::ScalableVectorType::get(fixed->getElementType(), granule / fixed->getScalarSizeInBits());
  llvm::Type *mask = llvm::VectorType::get(llvm::Type::getInt1Ty(context), vector);
  std::vector<llvm::Type *> types(parameters, vector);
  types.push_back(mask);
  const std::vector<llvm::Type *> own(parameters, fixed);
  auto *made = llvm::Function::Create(llvm::FunctionType::get(fixed, own, false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
  llvm::AttrBuilder attributes(context, caller.getAttributes().getFnAttrs());
  attributes.removeAttribute(llvm::Attribute::NoInline).addAttribute(llvm::Attribute::AlwaysInline);
  made->addFnAttrs(attributes);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", made));
  llvm::Value *first = builder.getInt64(0);
  std::vector<llvm::Value *> values;
  for (llvm::Argument &argument : made->args())
    values.push_back(builder.CreateInsertVector(vector, llvm::PoisonValue::get(vector), &argument, first));
  values.push_back(builder.CreateIntrinsic(llvm::Intrinsic::get_active_lane_mask,
                                           {mask, builder.getInt64Ty()}, {first, builder.getInt64(lanes)}));
  llvm::Value *result = builder.CreateCall(declare(module, masked, vector, types), values);
  builder.CreateRet(builder.CreateExtractVector(fixed, result, first));
  return name;
}

class OfferVectorMath : public llvm::PassInfoMixin<OfferVectorMath> {
public:
  explicit OfferVectorMath(const compile_request &request)
      : fast_(request.fp && llvm::StringRef(request.fp) == "fast"),
        width_(machine_of(request).vector_width(request)), has_(find_functions(request)) {
    // The later of two forms of one width is better and is taken. Masked forms serve only widths that no other form has.
    for (VectorForm form : machine_of(request).forms) {
      if (form.masked)
        form.bits = width_;
      if (form.bits > width_ || !has_feature(request, form.feature))
        continue;
      const bool has_width = !forms_.empty() && forms_.back().bits == form.bits;
      if (has_width && !form.masked)
        forms_.back() = form;
      else if (!has_width)
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
      const std::string count = std::to_string(lanes),
                        parameters = std::string(function->parameters, 'v') + "_";
      const std::string name = "_ZGV" + std::string(1, form.letter) + (form.masked ? "Mx" : "N" + count) +
                               parameters + function->name + (type->isFloatTy() ? "f" : "");
      if (!has_(name))
        continue;
      auto *vector = llvm::FixedVectorType::get(type, lanes);
      std::string called = name;
      if (form.masked)
        called = call_masked(*call.getFunction(), *call.getModule(), name, vector, function->parameters);
      else
        declare(*call.getModule(), name, vector, std::vector<llvm::Type *>(function->parameters, vector));
      variants += (variants.empty() ? "" : ",");
      variants += "_ZGV_LLVM_N" + count + parameters + callee->getName().str() + "(" + called + ")";
    }
    if (!variants.empty())
      call.addFnAttr(llvm::Attribute::get(call.getContext(), "vector-function-abi-variant", variants));
  }

  bool fast_;
  unsigned width_;
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
  if (machine_of(request).forms.back().masked)
    builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
      passes.addPass(llvm::AlwaysInlinerPass(false)); // what call_masked made
    });
}

} // namespace op2jit

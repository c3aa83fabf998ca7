#include "back.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "jit/clang/passes.h"

#if LLVM_VERSION_MAJOR >= 18
static constexpr auto optimise_most = llvm::CodeGenOptLevel::Aggressive;
static constexpr auto object_file = llvm::CodeGenFileType::ObjectFile;
#else
static constexpr auto optimise_most = llvm::CodeGenOpt::Aggressive;
static constexpr auto object_file = llvm::CGFT_ObjectFile;
#endif

namespace op2jit {

static std::unique_ptr<llvm::TargetMachine> make_machine(const compile_request &request,
                                                         const llvm::Module &module, Output &output) {
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), reason);
  if (!target) {
    output.add(COMPILE_ERROR, "", 0, 0, reason);
    return nullptr;
  }
  const bool fast = request.fp && llvm::StringRef(request.fp) == "fast";
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fast ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  options.UnsafeFPMath = options.NoInfsFPMath = options.NoNaNsFPMath = fast;
  options.NoSignedZerosFPMath = options.ApproxFuncFPMath = fast;
  options.NoTrappingFPMath = true;
  // The functions carry the processor and its features; these are for what is outside functions.
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(module.getTargetTriple(), machine_of(request).baseline, "", options,
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, optimise_most));
}

static void optimise(const compile_request &request, llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  offer_vector_math(builder, request);
  add_passes(builder, request);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (request.trial || module.getFunction("__ubsan_handle_out_of_bounds"))
    guard_variables(module, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static bool emit(llvm::Module &module, llvm::TargetMachine &machine, const char *processor, Output &output) {
  llvm::raw_svector_ostream stream(output.object);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(machine.getTargetTriple()));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, object_file)) {
    output.add(COMPILE_ERROR, "", 0, 0, std::string("this LLVM cannot write objects for ") + processor);
    return false;
  }
  passes.run(module);
  return !output.has_errors();
}

bool back_end(const compile_request &request, llvm::Module &module, Output &output) {
  const double start = processor_seconds();
  std::unique_ptr<llvm::TargetMachine> machine = make_machine(request, module, output);
  if (!machine)
    return false;
  module.setDataLayout(machine->createDataLayout());
  optimise(request, module, *machine);
  const double middle = processor_seconds();
  output.seconds_middle = middle - start;
  const bool emitted = emit(module, *machine, machine_of(request).processor, output);
  output.seconds_back = processor_seconds() - middle;
  return emitted;
}

bool has_feature(const compile_request &request, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 64> features;
  llvm::StringRef(request.features ? request.features : "").split(features, ',', -1, false);
  for (llvm::StringRef feature : features)
    if (feature.front() == '+' && feature.drop_front() == name)
      return true;
  return false;
}

const Machine &machine_of(const compile_request &request) {
  return *find_machine(request);
}

const char *known_processor(const compile_request &request) {
  if (machine_of(request).knows(request.cpu))
    return request.cpu;
  return llvm::StringRef(request.cpu) == "znver5" ? "znver4" : "generic"; // znver5: from clang 19 on
}

bool keeps_operations(const compile_request &request) {
  const llvm::StringRef fp(request.fp ? request.fp : "");
  return fp == "strict" || (!fp.empty() && fp.front() == 'r'); // reproducible
}

} // namespace op2jit

#include "switches.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

namespace op2jit {
namespace {

struct LowerSwitchesOfVectorLoops : llvm::PassInfoMixin<LowerSwitchesOfVectorLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    for (const llvm::Loop *loop : loops.getLoopsInPreorder())
      if (llvm::getBooleanLoopAttribute(loop, "llvm.loop.vectorize.enable"))
        return llvm::LowerSwitchPass().run(function, analyses);
    return llvm::PreservedAnalyses::all();
  }
};

} // namespace

void lower_switches(llvm::PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
    passes.addPass(LowerSwitchesOfVectorLoops());
  });
}

} // namespace op2jit

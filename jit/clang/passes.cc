#include "passes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Instrumentation/BoundsChecking.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

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

// The order is that of the text, so what a shuffle shuffles has been negated behind its own shuffle before.
struct NegateRows : llvm::PassInfoMixin<NegateRows> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(*block))
        if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
          changed |= swap(*shuffle);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

private:
  static bool swap(llvm::ShuffleVectorInst &shuffle) {
    llvm::Value *left, *right = shuffle.getOperand(1);
    if (!match(shuffle.getOperand(0), llvm::PatternMatch::m_FNeg(llvm::PatternMatch::m_Value(left))))
      return false;
    if (!llvm::isa<llvm::UndefValue>(right) &&
        !match(right, llvm::PatternMatch::m_FNeg(llvm::PatternMatch::m_Value(right))))
      return false;
    llvm::IRBuilder<> builder(&shuffle);
    llvm::Value *plain = builder.CreateShuffleVector(left, right, shuffle.getShuffleMask());
    shuffle.replaceAllUsesWith(builder.CreateFNeg(plain));
    shuffle.eraseFromParent();
    return true;
  }
};

// The pass counts what alignment adds behind a variable as the variable's. So while it runs there is none.
struct GuardVariables : llvm::PassInfoMixin<GuardVariables> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::DataLayout &layout = function.getParent()->getDataLayout();
    std::vector<std::pair<llvm::AllocaInst *, llvm::Align>> variables;
    std::vector<std::pair<llvm::GlobalVariable *, llvm::MaybeAlign>> constants;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        variables.emplace_back(variable, variable->getAlign());
        variable->setAlignment(layout.getABITypeAlign(variable->getAllocatedType()));
      }
    for (llvm::GlobalVariable &constant : function.getParent()->globals()) {
      constants.emplace_back(&constant, constant.getAlign());
      constant.setAlignment(layout.getABITypeAlign(constant.getValueType()));
    }
    const llvm::PreservedAnalyses kept = llvm::BoundsCheckingPass().run(function, analyses);
    for (const auto &[variable, alignment] : variables)
      variable->setAlignment(alignment);
    for (const auto &[constant, alignment] : constants)
      constant->setAlignment(alignment);
    return kept;
  }
};

} // namespace

void lower_switches(llvm::PassBuilder &builder) {
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
    passes.addPass(LowerSwitchesOfVectorLoops());
  });
}

void negate_rows(llvm::PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
    llvm::FunctionPassManager functions;
    functions.addPass(NegateRows());
    functions.addPass(llvm::EarlyCSEPass());
    functions.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  });
}

void guard_variables(llvm::Module &module, llvm::ModuleAnalysisManager &analyses) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage()) {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::PromotePass());
  functions.addPass(GuardVariables());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, analyses);
}

} // namespace op2jit

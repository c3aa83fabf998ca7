#include "passes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Instrumentation/BoundsChecking.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "jit/clang/back.h"

namespace op2jit {
namespace {

// LLVM's vectorisers refuse loops with a switch in them: switches become branches in functions with a loop that asks to be
// vectorised.
struct LowerSwitchesOfVectorLoops : llvm::PassInfoMixin<LowerSwitchesOfVectorLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    for (const llvm::Loop *loop : loops.getLoopsInPreorder())
      if (llvm::getBooleanLoopAttribute(loop, "llvm.loop.vectorize.enable"))
        return llvm::LowerSwitchPass().run(function, analyses);
    return llvm::PreservedAnalyses::all();
  }
};

// For a text whose loops mostly run a few rounds, and not always as many: leaves those rolled whose number of rounds is not
// known. Unrolled by eight, a loop over few rounds ends in one over the rest, with two branches more that nobody can predict.
struct KeepLoopsRolled : llvm::PassInfoMixin<KeepLoopsRolled> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    llvm::ScalarEvolution &rounds = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && rounds.getSmallConstantTripCount(loop) == 0)
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable", 1);
    return llvm::PreservedAnalyses::all();
  }
};

// LLVM 19 says of the results of calls what holds behind the branches before them, and then brings such a call in front of
// a branch with what it said: `if (v < low) return low; return min(v, high);` gave v.
struct ForgetRanges : llvm::PassInfoMixin<ForgetRanges> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
#if LLVM_VERSION_MAJOR >= 19
    function.removeRetAttr(llvm::Attribute::Range);
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->removeRetAttr(llvm::Attribute::Range);
#else
    (void)function;
#endif
    return llvm::PreservedAnalyses::all();
  }
};

// A value that leaves a strip as minus another one, as fluxes do, is turned into rows like it. Rows are negated in place of
// lanes, so that both are turned once, and the negation becomes a subtraction. The order is that of the text, so what a
// shuffle shuffles has been negated behind its own shuffle before.
struct NegateRows : llvm::PassInfoMixin<NegateRows> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(*block))
        if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
          changed |= swap(*shuffle);
    for (llvm::BasicBlock &block : function)
      for (llvm::PHINode &kept : llvm::make_early_inc_range(block.phis()))
        changed |= swap(kept);
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

  // A row that waits for the next strip: nothing before the first one.
  static bool swap(llvm::PHINode &kept) {
    llvm::SmallVector<llvm::Value *, 4> plain;
    bool any = false;
    for (llvm::Value *value : kept.incoming_values()) {
      llvm::Value *positive = value;
      if (match(value, llvm::PatternMatch::m_FNeg(llvm::PatternMatch::m_Value(positive))))
        any = true;
      else if (!llvm::isa<llvm::UndefValue>(value))
        return false;
      plain.push_back(positive);
    }
    if (!any)
      return false;
    llvm::PHINode *made = llvm::IRBuilder<>(&kept).CreatePHI(kept.getType(), kept.getNumIncomingValues());
    for (unsigned i = 0; i < kept.getNumIncomingValues(); i++)
      made->addIncoming(plain[i], kept.getIncomingBlock(i));
    llvm::IRBuilder<> builder(kept.getParent(), kept.getParent()->getFirstInsertionPt());
    kept.replaceAllUsesWith(builder.CreateFNeg(made));
    kept.eraseFromParent();
    return true;
  }
};

// Divisions and square roots take long, and most of what follows waits for them. Each one of a strip begins as soon as what
// it needs is loaded, but for those that wait for another one. It goes to the block's beginning with what it needs, and what
// follows is held behind it: LLVM's schedulers would bring it to the end of all loads again. Nothing in front of it writes, so
// that what it needs can pass all of that.
struct BeginDivisions : llvm::PassInfoMixin<BeginDivisions> {
  explicit BeginDivisions(unsigned bits) : register_bits(bits) {
  }

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock &block : function)
      changed |= begin_in(block);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

private:
  using Instructions = llvm::SmallPtrSet<llvm::Instruction *, 32>;
  const unsigned register_bits;

  // Wider ones are taken apart for several registers, of which a strip then has too few.
  bool is_long(llvm::Instruction &instruction) const {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    const unsigned bits = type ? unsigned(type->getPrimitiveSizeInBits().getFixedValue()) : 0;
    if (bits < 128 || bits > register_bits || (bits & (bits - 1)) || type->getScalarSizeInBits() < 32)
      return false;
    return instruction.getOpcode() == llvm::Instruction::FDiv ||
           match(&instruction,
                 llvm::PatternMatch::m_Intrinsic<llvm::Intrinsic::sqrt>(llvm::PatternMatch::m_Value()));
  }

  // Loads of map entries are atomic in name.
  static bool writes(const llvm::Instruction &instruction) {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return load->isVolatile() || llvm::isStrongerThanMonotonic(load->getOrdering());
    return instruction.mayWriteToMemory() || !llvm::isGuaranteedToTransferExecutionToSuccessor(&instruction);
  }

  // Collects what it needs of its block; false if it waits for another division.
  bool collect(llvm::Instruction &division, Instructions &needed) const {
    llvm::SmallVector<llvm::Instruction *, 64> open = {&division};
    while (!open.empty()) {
      llvm::Instruction *at = open.pop_back_val();
      if (llvm::isa<llvm::PHINode>(at) || at->getParent() != division.getParent() ||
          !needed.insert(at).second)
        continue;
      if (at != &division && is_long(*at))
        return false;
      for (llvm::Value *operand : at->operands())
        if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(operand))
          open.push_back(instruction);
    }
    return true;
  }

  // Another shuffle of the same rows, which would hold their registers.
  static bool turns(const llvm::Instruction &instruction, const Instructions &needed) {
    return llvm::isa<llvm::ShuffleVectorInst>(instruction) &&
           llvm::all_of(instruction.operands(), [&](const llvm::Use &operand) {
             auto *from = llvm::dyn_cast<llvm::Instruction>(operand);
             return !from || needed.contains(from);
           });
  }

  // Whether it divides only values that were brought into lanes with the strip before, and constants.
  bool can_begin_before(llvm::Instruction &division) const {
    bool kept = false;
    if (division.getOpcode() != llvm::Instruction::FDiv || !is_long(division))
      return false;
    for (llvm::Value *operand : division.operands()) {
      auto *phi = llvm::dyn_cast<llvm::PHINode>(operand);
      const bool here = phi && phi->getParent() == division.getParent();
      if (!here && !llvm::isa<llvm::Constant>(operand))
        return false;
      kept |= here;
    }
    return kept;
  }

  // In a strip that loads rows of the next one, the next one's divisions begin behind these.
  bool begin_before(llvm::BasicBlock &block) const {
    llvm::SmallVector<llvm::Instruction *, 8> divisions;
    for (llvm::Instruction &instruction : block)
      if (block.hasNPredecessors(2) && can_begin_before(instruction))
        divisions.push_back(&instruction);
    for (llvm::Instruction *division : divisions) {
      llvm::PHINode *made = llvm::IRBuilder<>(&block, block.begin()).CreatePHI(division->getType(), 2);
      for (llvm::BasicBlock *from : llvm::predecessors(&block)) {
        llvm::Instruction *earlier = division->clone();
        for (llvm::Use &operand : earlier->operands())
          if (auto *phi = llvm::dyn_cast<llvm::PHINode>(operand))
            operand.set(phi->getIncomingValueForBlock(from));
        earlier->insertBefore(from->getTerminator());
        made->addIncoming(earlier, from);
      }
      division->replaceAllUsesWith(made);
      division->eraseFromParent();
    }
    return !divisions.empty();
  }

  bool begin_in(llvm::BasicBlock &block) const {
    llvm::SmallVector<llvm::Instruction *, 8> divisions;
    bool changed = begin_before(block);
    for (llvm::Instruction &instruction : block) {
      if (writes(instruction))
        break;
      if (is_long(instruction))
        divisions.push_back(&instruction);
    }
    llvm::Instruction *place = block.getFirstNonPHI();
    Instructions placed;
    for (llvm::Instruction *division : divisions) {
      Instructions needed;
      if (!collect(*division, needed))
        continue;
      place = move(block, needed, placed, place);
      hold(*division, place);
      changed = true;
    }
    return changed;
  }

  // Before `place`, in the order of the block, less what is there by an earlier one. The place behind.
  static llvm::Instruction *move(llvm::BasicBlock &block, Instructions &needed, Instructions &placed,
                                 llvm::Instruction *place) {
    llvm::SmallVector<llvm::Instruction *, 64> order;
    for (llvm::Instruction &instruction : block)
      if (needed.contains(&instruction) || turns(instruction, needed)) {
        needed.insert(&instruction);
        if (placed.insert(&instruction).second)
          order.push_back(&instruction);
      }
    for (llvm::Instruction *instruction : order)
      if (instruction == place)
        place = place->getNextNode();
      else
        instruction->moveBefore(place);
    return place;
  }

  // An assembler's text without instructions asks for its value, and stands between the loads before it and those
  // behind.
  static void hold(llvm::Instruction &division, llvm::Instruction *place) {
    llvm::IRBuilder<> builder(place);
    llvm::FunctionType *called = llvm::FunctionType::get(builder.getVoidTy(), division.getType(), false);
    builder.CreateCall(llvm::InlineAsm::get(called, "", "v,~{memory}", true), &division);
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

void add_passes(llvm::PassBuilder &builder, const compile_request &request) {
  const llvm::StringRef text(request.files[0].text, request.files[0].length);
  const bool rolled = text.contains("\n#pragma op2jit rolled\n");
  builder.registerVectorizerStartEPCallback(
      [rolled](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(LowerSwitchesOfVectorLoops());
        if (rolled)
          passes.addPass(KeepLoopsRolled());
      });
  builder.registerPeepholeEPCallback(
      [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) { passes.addPass(ForgetRanges()); });
  builder.registerOptimizerLastEPCallback(
      [&request](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        llvm::FunctionPassManager functions;
        functions.addPass(NegateRows());
        functions.addPass(llvm::EarlyCSEPass());
        functions.addPass(llvm::InstCombinePass());
        refine_roots(functions, request);
        if (machine_of(request).measured)
          functions.addPass(BeginDivisions(machine_of(request).vector_width(request)));
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
  // Inlining takes what a constant has beyond its end for any value, and nothing reads it then.
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(GuardVariables()));
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, analyses);
}

} // namespace op2jit

#include "passes.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "jit/clang/back.h"

namespace op2jit {
namespace {

using namespace llvm::PatternMatch;
using Instructions = llvm::SmallVector<llvm::Instruction *, 8>;
using Members = llvm::SmallPtrSet<llvm::Instruction *, 32>;

// Cycles for eight doubles on a Zen 4: what the divider takes, and what begins at the multipliers instead.
constexpr unsigned root_cycles = 16, division_cycles = 9, refinement_cycles = 11, raising_cycles = 3;

// Below the first number the last bits of the remainder may be lost. There the root is that of the number times the second
// one, which has an even exponent.
constexpr double lost_below = 0x1p-960, raised_by = 0x1p600, lowered_by = 0x1p-300;

// Tables for vfixupimmpd, which mends a result by the kind of number its source is. From the lowest four bits: quiet and
// signalling NaN, zero, one, minus and plus infinity, negative, positive. 0 leaves the result, 1 takes the source, 2 its
// NaN, 3 a new NaN.
constexpr uint32_t as_root = 0x03130122, as_quotient = 0x00110122;

bool is_of(const llvm::Instruction &instruction, unsigned doubles) {
  const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return type && type->getElementType()->isDoubleTy() && type->getNumElements() == doubles;
}

// Half a register gains nothing from refined roots, and has too many values already.
bool is_whole(const llvm::Instruction &instruction) {
  return is_of(instruction, 8);
}

bool is_root(const llvm::Instruction &instruction) {
  return match(&instruction, m_Intrinsic<llvm::Intrinsic::sqrt>(m_Value()));
}

bool multiplies(const llvm::Instruction &instruction) {
  return instruction.getOpcode() == llvm::Instruction::FMul ||
         match(&instruction, m_Intrinsic<llvm::Intrinsic::fma>()) ||
         match(&instruction, m_Intrinsic<llvm::Intrinsic::fmuladd>());
}

bool takes_any(const llvm::Instruction &instruction, const Members &of) {
  return llvm::any_of(instruction.operands(), [&](const llvm::Use &operand) {
    auto *from = llvm::dyn_cast<llvm::Instruction>(operand);
    return from && of.contains(from);
  });
}

// Steps as vectors of one type.
class Steps {
public:
  explicit Steps(llvm::Instruction &at)
      : builder_(&at), type_(llvm::cast<llvm::FixedVectorType>(at.getType())) {
  }
  llvm::Value *number(double value) {
    return llvm::ConstantFP::get(type_, value);
  }
  llvm::Value *times(llvm::Value *a, llvm::Value *b) {
    return builder_.CreateFMul(a, b);
  }
  // a b + c, and c - a b
  llvm::Value *plus(llvm::Value *a, llvm::Value *b, llvm::Value *c) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
  }
  llvm::Value *less(llvm::Value *c, llvm::Value *a, llvm::Value *b) {
    return plus(builder_.CreateFNeg(a), b, c);
  }
  // The first where `of` is less than `least`, else 1.
  llvm::Value *where_less(llvm::Value *of, double least, double value) {
    return builder_.CreateSelect(builder_.CreateFCmpOLT(of, number(least)), number(value), number(1));
  }
  llvm::Value *estimate(llvm::Value *of) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rsqrt14_pd_512, {},
                                    {of, llvm::Constant::getNullValue(type_), all()});
  }
  llvm::Value *mended(llvm::Value *result, llvm::Value *source, uint32_t table) {
    const bool whole = type_->getNumElements() == 8;
    llvm::Type *words = llvm::VectorType::getInteger(type_);
    llvm::SmallVector<llvm::Value *, 6> arguments = {result, source, llvm::ConstantInt::get(words, table),
                                                     builder_.getInt32(0), all()};
    if (whole)
      arguments.push_back(builder_.getInt32(4)); // no other rounding
    return builder_.CreateIntrinsic(whole ? llvm::Intrinsic::x86_avx512_mask_fixupimm_pd_512
                                          : llvm::Intrinsic::x86_avx512_mask_fixupimm_pd_256,
                                    {}, arguments);
  }

private:
  llvm::IRBuilder<> builder_;
  llvm::FixedVectorType *type_;

  llvm::Value *all() {
    return builder_.getInt8(0xff);
  }
};

// The estimate is good to 14 bits. Two steps of Goldschmidt bring the root and half its reciprocal to a few units of the
// last place, and what is then left of the number gives the last bit.
llvm::Value *refined_root(llvm::Instruction &at, bool of_any) {
  Steps steps(at);
  llvm::Value *given = at.getOperand(0), *half = steps.number(0.5);
  llvm::Value *number = of_any ? steps.times(given, steps.where_less(given, lost_below, raised_by)) : given;
  llvm::Value *estimate = steps.estimate(number);
  llvm::Value *root = steps.times(number, estimate), *share = steps.times(estimate, half);
  for (int step = 0; step < 2; step++) {
    llvm::Value *error = steps.less(half, root, share);
    root = steps.plus(root, error, root);
    share = steps.plus(share, error, share);
  }
  root = steps.plus(steps.less(number, root, root), share, root);
  if (of_any)
    root = steps.times(root, steps.where_less(given, lost_below, lowered_by));
  return steps.mended(root, given, as_root);
}

// With the reciprocal rounded to nearest the remainder gives the last bit (Markstein). NULL if it is not normal.
llvm::Value *refined_quotient(llvm::Instruction &at) {
  const llvm::APFloat *divisor;
  if (!match(at.getOperand(1), m_APFloat(divisor)))
    return nullptr;
  llvm::APFloat reciprocal(1.0);
  reciprocal.divide(*divisor, llvm::APFloat::rmNearestTiesToEven);
  if (!divisor->isNormal() || !reciprocal.isNormal())
    return nullptr;
  Steps steps(at);
  llvm::Value *number = at.getOperand(0), *by = steps.number(reciprocal.convertToDouble());
  llvm::Value *quotient = steps.times(number, by);
  llvm::Value *left = steps.less(number, at.getOperand(1), quotient);
  return steps.mended(steps.plus(left, by, quotient), quotient, as_quotient);
}

struct RefineRoots : llvm::PassInfoMixin<RefineRoots> {
  // `to_the_bit`: of any number; quotients are left to the divider.
  explicit RefineRoots(bool to_the_bit) : exact(to_the_bit) {
  }

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock &block : function) {
      for (llvm::Instruction *division : exact ? Instructions() : constant_divisions(block))
        changed |= replace(*division, refined_quotient(*division));
      for (llvm::Instruction *root : choose(block))
        changed |= replace(*root, refined_root(*root, exact));
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

private:
  const bool exact;

  static bool replace(llvm::Instruction &old, llvm::Value *value) {
    if (!value)
      return false;
    old.replaceAllUsesWith(value);
    old.eraseFromParent();
    return true;
  }

  static Instructions constant_divisions(llvm::BasicBlock &block) {
    Instructions found;
    for (llvm::Instruction &instruction : block)
      if ((is_whole(instruction) || is_of(instruction, 4)) &&
          instruction.getOpcode() == llvm::Instruction::FDiv &&
          llvm::isa<llvm::Constant>(instruction.getOperand(1)))
        found.push_back(&instruction);
    return found;
  }

  // As many as let the divider and the multipliers end together, of those that wait for no other root.
  Instructions choose(llvm::BasicBlock &block) const {
    const unsigned refinement = refinement_cycles + (exact ? raising_cycles : 0);
    unsigned divider = 0, multipliers = 0, best = 0;
    Instructions roots;
    Members behind;
    for (llvm::Instruction &instruction : block) {
      if (!is_whole(instruction))
        continue;
      const bool root = is_root(instruction), waits = takes_any(instruction, behind);
      divider += root                                                 ? root_cycles
                 : instruction.getOpcode() == llvm::Instruction::FDiv ? division_cycles
                                                                      : 0;
      multipliers += multiplies(instruction);
      if (root && !waits)
        roots.push_back(&instruction);
      if (root || waits)
        behind.insert(&instruction);
    }
    const auto longest = [&](unsigned refined) {
      return std::max(divider - root_cycles * refined, multipliers + refinement * refined);
    };
    for (unsigned refined = 1; refined <= roots.size(); refined++)
      if (longest(refined) < longest(best))
        best = refined;
    // The last ones, for the divider begins early with the first.
    return Instructions(roots.end() - best, roots.end());
  }
};

} // namespace

void refine_roots(llvm::FunctionPassManager &passes, const compile_request &request) {
  const bool exact = llvm::StringRef(request.fp ? request.fp : "") == "reproducible";
  const bool wanted = exact || !keeps_operations(request);
  if (wanted && !request.trial && has_feature(request, "avx512f") && has_feature(request, "avx512vl"))
    passes.addPass(RefineRoots(exact));
}

} // namespace op2jit

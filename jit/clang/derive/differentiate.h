// From a kernel to its tangent and its adjoint. Values of the kernel are computed again where the derivative asks for them,
// in the block that stands for theirs; what nobody asks for is not there.
#ifndef OP2JIT_JIT_CLANG_DERIVE_DIFFERENTIATE_H
#define OP2JIT_JIT_CLANG_DERIVE_DIFFERENTIATE_H

#include "ir.h"

namespace op2jit::derive {

// The derived kernel, and what its parameters are.
struct Derived {
  Builder builder;
  std::vector<Parameter> parameters;
  std::vector<int64_t> tapes; // their lengths
};

// Whether a branch or loop holds effects.
bool has_effects(const Node *owner);

// The common part of tangent and adjoint.
class Differentiator {
public:
  Differentiator(Program &from, const derive_request &request, Derived &to)
      : from_(from), request_(request), to_(to), b_(to.builder) {
    b_.derives = true;
    b_.root()->of = from.builder.root();
  }
  // A loop that has no proved bound and needs one.
  uint32_t unbounded() const {
    return unbounded_;
  }

protected:
  int parameter(derive_role role, int argument, int constant = -1) {
    return find_parameter(to_.parameters, role, argument, constant);
  }
  const Parameter &of(const Node *access) const {
    return from_.parameters[static_cast<size_t>(access->number)];
  }
  const derive_argument &argument(const Node *access) const {
    return request_.arguments[of(access).argument];
  }
  bool is_active(const Node *access) const {
    const derive_argument &is = argument(access);
    return is_real(access->type) && is.active && (is.is.form == PROVE_DATA || is.is.form == PROVE_VECTOR);
  }
  void find_varied();
  Block *stands_for(const Block *block);
  Node *value(const Node *of);
  Node *made(const Node *of);
  Node *branch(const Node *of);
  Node *loop(const Node *of);
  Node *carried(const Node *of);
  Node *at_round(const Node *carried, Block *body);
  Node *rounds(const Node *of, Node *loop);
  // `factor`, the node's bar or the operand's dot, times the node's partial derivative by that operand.
  Node *times(Node *factor, const Node *node, size_t operand);
  Node *access(Op op, const Node *of, derive_role role, Node *value, bool ordered = false);
  Node *wins(const Node *extreme);

  Program &from_;
  const derive_request &request_;
  Derived &to_;
  Builder &b_;
  uint32_t unbounded_ = 0;
};

class Tangent : public Differentiator {
public:
  using Differentiator::Differentiator;
  void run();
  // Only MIN and MAX of this element alone.
  void run_candidates();

private:
  void block(const Block *block);
  void effect(const Node *node);
  void extreme(const Node *node);
  Node *dot(const Node *of);
  Node *dot_made(const Node *of);
  Node *dot_or_zero(const Node *of);
};

class Adjoint : public Differentiator {
public:
  Adjoint(Program &from, const derive_request &request, const std::vector<bool> &in_place, Derived &to)
      : Differentiator(from, request, to), in_place_(in_place) {
  }
  void run();

private:
  struct Scope {
    Scope *outside;
    const Node *owner; // of the kernel: the branch or loop; NULL: the kernel's own
    Node *loop;        // the loop that goes back; NULL: none
    std::map<int, std::pair<const Node *, Node *>> bars; // by the node's number
    std::map<int, std::pair<const Node *, Node *>> sums; // of a loop: what goes on from round to round
  };
  void block(const Block *block);
  void node(const Node *node, Node *bar);
  void effect(const Node *node);
  void branch_back(const Node *of);
  void loop_back(const Node *of);
  void set_rounds(const Node *of, Node *back, bool any_order);
  std::vector<const Node *> find_useful(const Node *of);
  void finish();
  Node *bar(const Node *of);
  Node *take(const Node *of);
  void set(const Node *of, Node *bar);
  void add(const Node *of, Node *more);

  const std::vector<bool> &in_place_;
  Scope *scope_ = nullptr;
  std::map<std::vector<int64_t>, std::pair<const Node *, Node *>>
      rows_; // bars of rows that the kernel changes
  std::map<std::vector<int64_t>, const Node *> written_;
};

} // namespace op2jit::derive
#endif

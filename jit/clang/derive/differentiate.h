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
  Node *at_round(const Node *carried, Block *body);
  Node *rounds(const Node *of, Node *loop);
  // `factor`, the node's bar or the operand's dot, times the node's partial derivative by that operand.
  Node *times(Node *factor, const Node *node, size_t operand);
  Node *access(Op op, const Node *of, derive_role role, Node *value, bool ordered = false);
  Node *wins(const Node *extreme);

  // An Array, Phi, Carried or Left, of what `part` makes of each operand. `known`: where a block has what was made.
  template <class Part>
  Node *joined(const Node *of, std::unordered_map<const Node *, Node *> Block::*known, const Part &part) {
    if (of->op == Op::Array) {
      std::vector<Node *> in;
      for (const Node *operand : of->in)
        in.push_back(part(operand));
      return b_.array(of->type, std::move(in));
    }
    if (of->op == Op::Phi) {
      Node *made = branch(of->owner), *sides[2];
      for (size_t side = 0; side < 2; side++) {
        const Inside there(b_, made->blocks[side]);
        sides[side] = part(of->in[side]);
      }
      return b_.phi(made, sides[0], sides[1]);
    }
    if (of->op == Op::Left) {
      const Inside body(b_, loop(of->owner)->blocks[0]);
      return part(of->in[0])->left;
    }
    Block *body = b_.now(); // of the loop
    b_.enter(body->parent);
    Node *init = part(of->in[0]);
    b_.enter(body);
    Node *made = b_.carried(body->owner, init);
    (body->*known)[of] = made;
    made->in[1] = part(of->in[1]);
    return made;
  }

  Program &from_;
  const derive_request &request_;
  Derived &to_;
  Builder &b_;
  uint32_t unbounded_ = 0;
};

// The tangent of a kernel, or with DERIVE_CANDIDATES only MIN and MAX of this element alone.
void make_tangent(Program &from, const derive_request &request, Derived &to);
// The place in the text of a loop that has no proved bound and needs one; 0: there is none.
uint32_t make_adjoint(Program &from, const derive_request &request, const std::vector<bool> &in_place,
                      Derived &to);

} // namespace op2jit::derive
#endif

// Writes a derived kernel as text. What is used once stands where it is used, so that the compiler contracts and schedules as
// it does for what a person writes.
#ifndef OP2JIT_JIT_CLANG_DERIVE_WRITE_H
#define OP2JIT_JIT_CLANG_DERIVE_WRITE_H

#include <set>

#include "differentiate.h"

namespace op2jit::derive {

class Writer {
public:
  Writer(const Program &program, const derive_request &request, Derived &derived)
      : program_(program), request_(request), derived_(derived) {
  }
  void run(const std::string &name);
  std::string text;
  std::vector<derive_parameter> parameters;

private:
  struct Use {
    bool live = false, inlined = false, written = false;
    bool flat = false; // a branch that is written as c ? a : b
    int count = 0, height = 0;
    const Node *by = nullptr;     // who uses it last
    const Block *place = nullptr; // and where
    std::string name;
  };
  Use &use_of(const Node *node) {
    return uses_[static_cast<size_t>(node->id)];
  }
  const Use &use_of(const Node *node) const {
    return uses_[static_cast<size_t>(node->id)];
  }
  // Which nodes are needed, and how often.
  const Node *plain(const Node *node) const;
  const std::vector<const Node *> &members(const Block *block) const;
  void find_live();
  void need(const Node *node);
  void need_owner(const Block *block);
  void count_uses();
  void use(const Node *node, const Node *by, const Block *place);
  void find_inlined();
  bool can_be_inlined(const Node *node) const;
  bool is_flat(const Node *branch) const;
  int height(const Node *node);

  // Statements.
  void block(const Block *block);
  void require(const Node *node);
  void write(const Node *node);
  void write_branch(const Node *node);
  void write_loop(const Node *node);
  void declare_tapes(const Node *loop);
  bool reads_any(const Node *node, const std::set<const Node *> &carried) const;
  void require_outside(const Node *owner, const Node *whole);
  void side(const Node *branch, size_t side);
  void effect(const Node *node);
  void declare(const Node *node, const std::string &value);
  void line(const std::string &words);

  // Expressions. `strength` of what is around.
  std::string expression(const Node *node, int strength);
  std::string inner(const Node *node, int &strength);
  std::string number(const Node *node, int &strength) const;
  std::string access(const Node *node);
  std::string name_of(int parameter) const;

  void head(const std::string &name);
  std::string declaration(int parameter) const;
  op_access access_of(const Parameter &parameter) const;
  void tables();

  const Program &program_;
  const derive_request &request_;
  Derived &derived_;
  std::vector<Use> uses_;
  std::map<const Block *, std::vector<const Node *>> members_;
  std::vector<bool> kept_;
  std::set<int> used_parameters_;
  std::set<int64_t> stored_, used_tables_;
  std::set<int> ragged_; // maps
  std::string indent_;
  int names_ = 0;
};

} // namespace op2jit::derive
#endif

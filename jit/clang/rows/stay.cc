// Arguments whose rows can stay where they are. An edit of the text must do for each use of such a row.
#include <clang/AST/Stmt.h>
#include <clang/AST/TypeLoc.h>

#include <vector>

#include "rows.h"

namespace op2jit {
namespace {

// `T *`, written so: the place of the first star.
clang::PointerTypeLoc pointer_to(clang::TypeLoc type) {
  return type.getUnqualifiedLoc().getAs<clang::PointerTypeLoc>();
}

class Stays {
public:
  explicit Stays(const KernelText &text) : text_(text), parents_(text.kernel.getBody()) {
  }

  void run(row_facts &out) {
    collect();
    const int end = text_.range(text_.kernel.getSourceRange()).end;
    const auto line = text_.directives.lower_bound(text_.place(text_.kernel.getBeginLoc()));
    if (text_.named != 1 || text_.has_typeof || end < 0 || (line != text_.directives.end() && *line < end))
      return;
    for (int i = 0; i < text_.request.narguments; i++)
      if (text_.request.arguments[i].stays && parameter_can(i))
        staying_.insert(i);
    for (const clang::Stmt *name : names_)
      if (!handles_.count(name) && !is_unused(name))
        staying_.erase(text_.argument(variable_of(name)));
    for (size_t before = staying_.size() + 1; before > staying_.size();) {
      before = staying_.size();
      for (const Used &row : rows_)
        if (row.row.place < 0 || !(is_followed(parents_, row.at) || is_kept(row.at)))
          staying_.erase(row.argument);
    }
    edit(out);
  }

private:
  struct Used {
    Row row;
    const clang::Stmt *at;
    int argument;
  };

  void collect() {
    each(text_.kernel.getBody(), [&](const clang::Stmt *part) {
      const Row row = row_at(text_, part);
      if (row && text_.argument(variable_of(row.handle)) >= 0) {
        rows_.push_back({row, part, text_.argument(variable_of(row.handle))});
        handles_.merge(handles_of(part));
      }
      if (llvm::isa<clang::DeclRefExpr>(part) && variable_of(part))
        names_.push_back(part);
    });
  }

  bool is_unused(const clang::Stmt *name) const {
    const auto *cast = llvm::dyn_cast_or_null<clang::CStyleCastExpr>(
        parents_.getParentIgnoreParenImpCasts(const_cast<clang::Stmt *>(name)));
    return cast && cast->getCastKind() == clang::CK_ToVoid;
  }

  const clang::ParmVarDecl *parameter(int argument) const {
    return text_.kernel.getParamDecl(static_cast<unsigned>(prove_parameter(&text_.request, argument)));
  }

  // From its stars on.
  row_range stars(int argument) const {
    const clang::ParmVarDecl *declared = parameter(argument);
    const clang::PointerTypeLoc outer = pointer_to(declared->getTypeSourceInfo()->getTypeLoc()),
                                inner = outer ? pointer_to(outer.getPointeeLoc()) : outer;
    return inner ? text_.range({inner.getStarLoc(), declared->getLocation()}) : row_range{-1, -1};
  }

  bool parameter_can(int argument) const {
    const clang::ParmVarDecl *declared = parameter(argument);
    const row_range at = stars(argument);
    return declared->getIdentifier() && !declared->hasAttrs() && text_.place(declared->getBeginLoc()) >= 0 &&
           at.begin >= 0 && at.end == text_.range(declared->getSourceRange()).end;
  }

  // The declaration that a row is the first value of: all its names are pointers to rows that stay, for they have one type, and
  // so one space.
  const clang::DeclStmt *declaration_of(const clang::Stmt *row) const {
    const clang::Stmt *around = parents_.getParentIgnoreParens(const_cast<clang::Stmt *>(row));
    while (const auto *cast = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(around)) {
      if (cast->getCastKind() != clang::CK_NoOp)
        return nullptr;
      around = parents_.getParentIgnoreParens(const_cast<clang::Stmt *>(around));
    }
    return llvm::dyn_cast_or_null<clang::DeclStmt>(around);
  }

  bool is_kept(const clang::Stmt *row) const {
    const clang::DeclStmt *declaration = declaration_of(row);
    if (!declaration || text_.place(declaration->getBeginLoc()) < 0)
      return false;
    for (const clang::Decl *one : declaration->decls()) {
      const auto *variable = llvm::dyn_cast<clang::VarDecl>(one);
      const clang::Expr *value = variable ? variable->getInit() : nullptr;
      const Row from = value ? row_at(text_, value->IgnoreParenImpCasts()) : Row();
      const clang::PointerTypeLoc pointer =
          value ? pointer_to(variable->getTypeSourceInfo()->getTypeLoc()) : clang::PointerTypeLoc();
      if (!from || !staying_.count(text_.argument(variable_of(from.handle))) || !pointer ||
          pointer.getPointeeLoc().getType()->isPointerType() || variable->isStaticLocal())
        return false;
      for (const clang::Stmt *name : names_)
        if (variable_of(name) == variable && !is_followed(parents_, name))
          return false;
    }
    return true;
  }

  void edit(row_facts &out) const {
    std::map<int, stay> edits;
    for (const int i : staying_) {
      const int begin = text_.place(parameter(i)->getBeginLoc());
      edits[begin] = {{begin, begin}, STAY_DECLARES, i};
      edits[stars(i).begin] = {stars(i), STAY_PARAMETER, i};
    }
    for (const Used &row : rows_) {
      const clang::DeclStmt *declaration = declaration_of(row.at);
      if (!staying_.count(row.argument))
        continue;
      const int word = static_cast<int>(sizeof "OP_ROW") - 1;
      edits[row.row.place] = {{row.row.place, row.row.place + word}, STAY_ROW, row.argument};
      if (!declaration)
        continue;
      const int begin = text_.place(declaration->getBeginLoc());
      edits[begin] = {{begin, begin}, STAY_DECLARES, row.argument};
    }
    for (const auto &[at, one] : edits)
      if (edits.size() <= STAYS)
        out.stays[out.nstays++] = one;
  }

  const KernelText &text_;
  const clang::ParentMap parents_;
  std::vector<Used> rows_;
  std::vector<const clang::Stmt *> names_;
  std::set<const clang::Stmt *> handles_;
  std::set<int> staying_;
};

} // namespace

void find_stays(const KernelText &text, row_facts &out) {
  Stays(text).run(out);
}

} // namespace op2jit

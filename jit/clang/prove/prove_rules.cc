#include "prove_rules.h"

#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>

namespace op2jit {

Rules::Rules(const clang::ASTContext &context, const prove_request &request,
             const clang::FunctionDecl &kernel)
    : context_(context), request_(request), kernel_(kernel),
      findings_(static_cast<size_t>(request.narguments) + 1),
      doubtful_(static_cast<size_t>(request.narguments)) {
  for (int i = 0; i < request.narguments; i++) {
    sometimes_.emplace_back(components(i));
    in_turn_.emplace_back(components(i));
  }
}

int Rules::components(int i) const {
  return argument(i).dim * (argument(i).form == PROVE_VECTOR ? argument(i).arity : 1);
}

State Rules::start() const {
  State state;
  for (int i = 0; i < request_.narguments; i++) {
    state.written.emplace_back(components(i));
    state.perhaps.emplace_back(components(i));
  }
  return state;
}

std::string Rules::title(int i) const {
  const auto number = static_cast<unsigned>(prove_parameter(&request_, i));
  std::string text = "argument " + std::to_string(i + 1);
  if (number < kernel_.getNumParams() && !kernel_.getParamDecl(number)->getName().empty())
    text += " (" + kernel_.getParamDecl(number)->getName().str() + ")";
  return text;
}

void Rules::report(int i, prove_verdict verdict, prove_evidence evidence, clang::SourceLocation where,
                   std::string reason, std::string remedy) {
  Finding &finding = i < 0 ? findings_.back() : findings_[static_cast<size_t>(i)];
  if (verdict <= finding.verdict)
    return; // the first of a kind is told, and a violation rather than a doubt
  finding = {verdict, evidence, "", std::move(reason), std::move(remedy)};
  const clang::SourceManager &sources = context_.getSourceManager();
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(where));
  if (where.isValid() && place.isValid()) {
    llvm::StringRef file = place.getFilename();
    file.consume_front("./");
    finding.file = file.str();
    finding.line = place.getLine();
    finding.column = place.getColumn();
  }
}

void Rules::whole(prove_verdict verdict, prove_evidence evidence, clang::SourceLocation where,
                  std::string reason, std::string remedy) {
  report(-1, verdict, evidence, where, std::move(reason), std::move(remedy));
}

std::string type_word(clang::QualType type) {
  // Types of one size and kind: fixed-width names may stand for either; what C itself refuses, the compiler says.
  static const char *const same[][2] = {{"_Bool", "bool"},
                                        {"long", "long long"},
                                        {"unsigned long", "unsigned long long"},
                                        {"signed char", "char"}};
  clang::LangOptions options;
  const std::string name =
      type.isNull()
          ? ""
          : type.getCanonicalType().getUnqualifiedType().getAsString(clang::PrintingPolicy(options));
  for (const auto &pair : same)
    if (name == pair[0])
      return pair[1];
  return name;
}

int64_t Rules::values_of_argument(clang::QualType type, int i) const {
  if (const auto *array = context_.getAsConstantArrayType(type))
    return array->getSize().getSExtValue() * values_of_argument(array->getElementType(), i);
  const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record) // A structure of C, or what is no structure. A dat of structures has no row that is made of its values.
    return !type->isRecordType() && type_word(type) == argument(i).type;
  if (!record->hasDefinition() || record->isUnion() || !record->isTriviallyCopyable() ||
      record->isPolymorphic())
    return 0;
  int64_t count = 0;
  for (const clang::CXXBaseSpecifier &base : record->bases()) {
    const int64_t each = base.isVirtual() ? 0 : values_of_argument(base.getType(), i);
    if (!each)
      return 0;
    count += each;
  }
  for (const clang::FieldDecl *field : record->fields()) {
    const int64_t each = field->isBitField() ? 0 : values_of_argument(field->getType(), i);
    if (!each)
      return 0;
    count += each;
  }
  return count;
}

void Rules::lost(const Place &place, clang::SourceLocation where, const char *why) {
  if (place.kind != Place::Argument && place.kind != Place::Pointers)
    return;
  doubtful_[static_cast<size_t>(place.argument)] = true;
  report(place.argument, PROVE_UNKNOWN, PROVE_PROMISE, where, title(place.argument) + " " + why, "");
}

void Rules::lost_all(clang::SourceLocation where, const char *why) {
  for (int i = 0; i < request_.narguments; i++) {
    Place place;
    place.kind = Place::Argument;
    place.argument = i;
    lost(place, where, why);
  }
}

void Rules::not_by_row(const Place &place, const clang::Expr *where) {
  report(place.argument, PROVE_VIOLATED, PROVE_TEXT, where->getExprLoc(),
         title(place.argument) + " has the rows of a ragged map, and nothing but OP_ROW leads to them",
         "write OP_ROW(x, k) in place of x[k]");
}

// Reports what is outside; false if the component is outside or not known.
bool Rules::inside(const Place &place, const clang::Expr *where) {
  const prove_argument &arg = argument(place.argument);
  const bool vector = arg.form == PROVE_VECTOR;
  if (arg.ragged && place.entry && (*place.entry < 0 || *place.entry >= arg.arity)) {
    const std::string n = std::to_string(arg.arity);
    report(place.argument, PROVE_VIOLATED, PROVE_OUTSIDE, where->getExprLoc(),
           "of an element with " + n + " targets " + title(place.argument) + " has the rows 0 to " +
               std::to_string(arg.arity - 1) + ", and the kernel uses OP_ROW(.., " +
               std::to_string(*place.entry) + ")",
           "let k in OP_ROW(x, k) go from 0 to n - 1");
    return false;
  }
  if (vector && place.entry && (*place.entry < 0 || *place.entry >= arg.arity)) {
    report(place.argument, PROVE_VIOLATED, PROVE_OUTSIDE, where->getExprLoc(),
           title(place.argument) + " has " + std::to_string(arg.arity) +
               " pointers, and the kernel uses number " + std::to_string(*place.entry),
           "use pointers 0 to " + std::to_string(arg.arity - 1) + ", or pass a map with more entries");
    return false;
  }
  if (place.kind == Place::Argument && place.component &&
      (*place.component < 0 || *place.component >= arg.dim)) {
    report(place.argument, PROVE_VIOLATED, PROVE_OUTSIDE, where->getExprLoc(),
           title(place.argument) + " has dim " + std::to_string(arg.dim) +
               ", and the kernel uses component " + std::to_string(*place.component),
           "use components 0 to " + std::to_string(arg.dim - 1) + ", or declare it with a larger dim" +
               (arg.ragged ? "; the row of target k is OP_ROW(x, k)" : ""));
    return false;
  }
  if ((vector && !place.entry) || (place.kind == Place::Argument && !place.component)) {
    lost(place, where->getExprLoc(), "is indexed by a value that is known only when the program runs");
    return false;
  }
  return true;
}

// Is it one of op_decl_const? Those are declared in the generated text.
static bool is_constant(const clang::VarDecl *variable, const clang::SourceManager &sources) {
  return variable && variable->hasGlobalStorage() && sources.isWrittenInMainFile(variable->getLocation());
}

void Rules::outside(const clang::VarDecl *variable, const std::string &name, int64_t size, Number index,
                    const clang::Expr *where) {
  const bool constant = is_constant(variable, context_.getSourceManager());
  const std::string title = (constant ? "constant " : "array ") + name;
  const std::string last = std::to_string(size - 1);
  if (!index)
    whole(PROVE_UNKNOWN, PROVE_INDEX, where->getExprLoc(),
          title + " is indexed by a value that is known only when the program runs", "");
  else if (constant)
    whole(PROVE_VIOLATED, PROVE_INDEX, where->getExprLoc(),
          title + " has dim " + std::to_string(size) + ", and the kernel uses component " +
              std::to_string(*index),
          "use components 0 to " + last + ", or declare it with a larger dim");
  else
    whole(PROVE_VIOLATED, PROVE_INDEX, where->getExprLoc(),
          (size == 1 ? "variable " + name + " holds one value"
                     : title + " has " + std::to_string(size) + " elements") +
              ", and the kernel uses element " + std::to_string(*index),
          size == 1 ? "stay within it" : "use elements 0 to " + last + ", or give it more of them");
}

// How many values a variable has, in all rows of all its arrays.
int64_t Rules::values_of(const clang::VarDecl *variable) const {
  int64_t size = 1;
  clang::QualType element = variable->getType();
  while (const auto *array = context_.getAsConstantArrayType(element)) {
    size *= array->getSize().getSExtValue();
    element = array->getElementType();
  }
  return size;
}

void Rules::index(const clang::Expr *array, Number index, int64_t size, const Place &place) {
  if (index && *index >= 0 && *index < size)
    return;
  if (index && place.kind == Place::Local && place.variable && place.component && *place.component >= 0 &&
      *place.component < values_of(place.variable)) {
    whole(PROVE_UNKNOWN, PROVE_INDEX, array->getExprLoc(),
          "the kernel reaches the next row of " + place.variable->getName().str() +
              " by an index beyond the row before, which C does not define",
          "give the row an index of its own");
    return;
  }
  array = array->IgnoreParenImpCasts();
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(array);
  std::string words;
  llvm::raw_string_ostream stream(words);
  array->printPretty(stream, nullptr, clang::PrintingPolicy(context_.getLangOpts()));
  outside(name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr, stream.str(), size, index, array);
}

// Of a variable reached through a pointer all elements count, whatever rows they are in. One that is used as another
// type is not followed.
void Rules::inside_variable(const Place &place, const clang::Expr *where) {
  if (place.variable->getType()->isVariablyModifiedType())
    return;
  const int64_t size = values_of(place.variable);
  const clang::QualType element = context_.getBaseElementType(place.variable->getType());
  if (context_.hasSameUnqualifiedType(element, where->getType()) &&
      !(place.component && *place.component >= 0 && *place.component < size))
    outside(place.variable, place.variable->getName().str(), size, place.component, where);
}

void Rules::null_pointer(const clang::Expr *where) {
  whole(PROVE_VIOLATED, PROVE_NULL, where->getExprLoc(), "the kernel follows a null pointer",
        "let it point to a value first");
}

void Rules::unset(const clang::VarDecl *variable, const clang::Expr *where) {
  for (int i = 0; i < request_.narguments; i++)
    if (argument(i).ragged && argument(i).arity == 0) {
      whole(PROVE_VIOLATED, PROVE_UNSET, where->getExprLoc(),
            "variable '" + variable->getName().str() + "' is used and has no value", "give it a value first");
      return;
    }
}

void Rules::keeps_extremum(int i, bool minimum) {
  Finding &finding = findings_[static_cast<size_t>(i)];
  if (finding.verdict == PROVE_VIOLATED && llvm::StringRef(finding.reason).contains("is declared OP_INC"))
    finding.remedy = "declare " + title(i) + (minimum ? " OP_MIN" : " OP_MAX");
}

static int flat(const Place &place, int dim) {
  return static_cast<int>(*place.entry * dim + *place.component);
}

void Rules::read(const Place &place, const clang::Expr *where, const State &state) {
  if (place.variable && (place.kind == Place::Local || place.kind == Place::Lasting))
    inside_variable(place, where);
  if (place.kind == Place::Pointers)
    inside(place, where);
  if (place.kind != Place::Argument)
    return;
  const prove_argument &arg = argument(place.argument);
  const bool known = inside(place, where);
  if (arg.access == PROVE_INC)
    report(place.argument, PROVE_VIOLATED, PROVE_PROMISE, where->getExprLoc(),
           title(place.argument) + " is declared OP_INC, and the kernel reads it",
           "declare " + title(place.argument) + " OP_RW, or only add to it");
  if (arg.access == PROVE_WRITE && known) {
    const auto i = static_cast<size_t>(place.argument);
    const auto bit = static_cast<unsigned>(flat(place, arg.dim));
    if (!state.written[i].test(bit)) {
      if (sometimes_[i].test(bit) || doubtful_[i])
        lost(place, where->getExprLoc(), "is read where it is not sure that it was written before");
      else
        report(place.argument, PROVE_VIOLATED, PROVE_PROMISE, where->getExprLoc(),
               title(place.argument) + " is declared OP_WRITE, and the kernel reads it before it is written",
               "declare " + title(place.argument) + " OP_RW, or write it first");
    }
  }
}

void Rules::write(const Place &place, const clang::Expr *where, State &state, Change change,
                  Compared compared, bool surely) {
  if (place.variable && (place.kind == Place::Local || place.kind == Place::Lasting))
    inside_variable(place, where);
  if (place.kind == Place::Lasting)
    whole(PROVE_VIOLATED, PROVE_KEPT, where->getExprLoc(),
          "the kernel writes to '" + place.variable->getName().str() +
              "', which keeps its value from one element to the next",
          "keep it in a dat, or reduce into a global argument");
  if (place.kind != Place::Argument)
    return;
  const prove_argument &arg = argument(place.argument);
  const std::string name = title(place.argument);
  const bool known = inside(place, where);
  if (arg.access == PROVE_READ || arg.form == PROVE_NUMBERS)
    report(place.argument, PROVE_VIOLATED, PROVE_PROMISE, where->getExprLoc(),
           name + " is declared OP_READ, and the kernel writes it",
           "declare " + name + " OP_RW, OP_WRITE or OP_INC");
  else if (arg.access == PROVE_INC && change != Change::Increase)
    report(place.argument, PROVE_VIOLATED, PROVE_PROMISE, where->getExprLoc(),
           name + " is declared OP_INC, and the kernel " +
               (change == Change::Assign ? "assigns it instead of adding to it"
                                         : "changes it other than by adding"),
           "declare " + name + " OP_RW, or use += or -=");
  else if ((arg.access == PROVE_MIN || arg.access == PROVE_MAX) &&
           (change != Change::Assign || compared != Compared::Rightly))
    report(place.argument, PROVE_VIOLATED, PROVE_PROMISE, where->getExprLoc(),
           name + " is declared " + (arg.access == PROVE_MIN ? "OP_MIN" : "OP_MAX") +
               ", and the kernel changes it without comparing",
           std::string(arg.access == PROVE_MIN ? "write if (v < *m) *m = v" : "write if (v > *m) *m = v") +
               (compared != Compared::Wrongly ? ""
                : arg.access == PROVE_MIN     ? ", or declare it OP_MAX"
                                              : ", or declare it OP_MIN"));
  const auto i = static_cast<size_t>(place.argument);
  if (known && surely)
    sometimes_[i].set(static_cast<unsigned>(flat(place, arg.dim)));
  else
    doubtful_[i] = true;
  if (!known)
    return;
  const auto bit = static_cast<unsigned>(flat(place, arg.dim));
  if (state.perhaps[i].test(bit) && !state.written[i].test(bit))
    in_turn_[i].set(bit);
  state.written[i].set(bit);
  state.perhaps[i].set(bit);
}

void Rules::unwritten(int a, int component) {
  const auto i = static_cast<size_t>(a);
  const prove_argument &arg = argument(a);
  const auto bit = static_cast<unsigned>(component);
  const std::string what = arg.form == PROVE_VECTOR ? "component " + std::to_string(component % arg.dim) +
                                                          (arg.ragged ? " of row " : " of pointer ") +
                                                          std::to_string(component / arg.dim)
                                                    : "component " + std::to_string(component);
  const std::string begin = title(a) + " is declared OP_WRITE, and the kernel ";
  const char *const remedy = " OP_RW, or write all its components on every path";
  if (in_turn_[i].test(bit))
    report(a, PROVE_UNKNOWN, PROVE_PROMISE, kernel_.getLocation(),
           begin + "writes " + what +
               " under several conditions, of which it could not be told that one always holds",
           "write it once before them, or with if and else");
  else
    report(a, doubtful_[i] ? PROVE_UNKNOWN : PROVE_VIOLATED, PROVE_PROMISE, kernel_.getLocation(),
           begin +
               (doubtful_[i]              ? "may not write "
                : sometimes_[i].test(bit) ? "does not always write "
                                          : "never writes ") +
               what,
           "declare " + title(a) + remedy);
}

void Rules::at_exit(const State &state) {
  for (int a = 0; a < request_.narguments && state.reachable; a++) {
    const auto i = static_cast<size_t>(a);
    const prove_argument &arg = argument(a);
    if (arg.access != PROVE_WRITE || arg.form == PROVE_PAYLOAD || state.written[i].all())
      continue;
    for (int missing = state.written[i].find_first_unset(); missing >= 0;
         missing = state.written[i].find_next_unset(static_cast<unsigned>(missing)))
      unwritten(a, missing);
  }
}

} // namespace op2jit

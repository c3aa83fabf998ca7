#include "prove_rules.h"

#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>
#include <utility>

#include "jit/clang/messages.h"

namespace op2jit {

Rules::Rules(const clang::ASTContext &context, const prove_request &request,
             const clang::FunctionDecl &kernel)
    : context_(context), request_(request), kernel_(kernel) {
  for (int i = 0; i < request.narguments; i++) {
    const auto size = static_cast<unsigned>(components(i));
    about_.emplace_back();
    about_.back().sometimes.resize(size);
    about_.back().in_turn.resize(size);
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

void Rules::report(int i, clang::SourceLocation where, Finding found) {
  Finding &finding = i < 0 ? whole_ : about(i).finding;
  if (found.verdict <= finding.verdict)
    return; // the first of a kind is told, and a violation rather than a doubt
  const auto number = static_cast<unsigned>(i < 0 ? -1 : prove_parameter(&request_, i));
  if (number < kernel_.getNumParams())
    found.parameter = kernel_.getParamDecl(number)->getName().str();
  const Spot spot = spot_of(context_.getSourceManager(), where);
  found.file = spot.file;
  found.line = spot.line;
  found.column = spot.column;
  finding = std::move(found);
}

void Rules::violated(const Place &place, prove_found rule, const clang::Expr *where, int64_t first,
                     int64_t second) {
  report(place.argument, where->getExprLoc(), {PROVE_VIOLATED, rule, "", first, second});
}

void Rules::whole(prove_verdict verdict, prove_found rule, clang::SourceLocation where,
                  const std::string &name, int64_t first, int64_t second) {
  report(-1, where, {verdict, rule, name, first, second});
}

void Rules::mismatched(prove_found rule, const clang::ParmVarDecl &parameter, int argument) {
  const clang::LangOptions options;
  Finding found{PROVE_VIOLATED, rule, parameter.getType().getAsString(clang::PrintingPolicy(options))};
  found.first = parameter.getFunctionScopeIndex() + 1;
  found.second = argument;
  found.parameter = parameter.getName().str();
  report(-1, parameter.getLocation(), std::move(found));
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
  bool all = true;
  const auto add = [&](bool follows, clang::QualType part) {
    const int64_t values = follows ? values_of_argument(part, i) : 0;
    all &= values > 0;
    count += values;
  };
  for (const clang::CXXBaseSpecifier &base : record->bases())
    add(!base.isVirtual(), base.getType());
  for (const clang::FieldDecl *field : record->fields())
    add(!field->isBitField(), field->getType());
  return all ? count : 0;
}

void Rules::lost(const Place &place, clang::SourceLocation where, prove_found why) {
  if (place.kind == Place::Argument || place.kind == Place::Pointers)
    about(place.argument).reads = about(place.argument).differs = true;
  doubt(place, where, why);
}

void Rules::doubt(const Place &place, clang::SourceLocation where, prove_found why) {
  if (place.kind != Place::Argument && place.kind != Place::Pointers)
    return;
  about(place.argument).doubtful = true;
  report(place.argument, where, {PROVE_UNKNOWN, why});
}

void Rules::lost_all(clang::SourceLocation where, prove_found why) {
  for (int i = 0; i < request_.narguments; i++)
    lost(Place::of(i), where, why);
}

// Reports what is outside; false if the component is outside or not known.
bool Rules::inside(const Place &place, const clang::Expr *where) {
  const prove_argument &arg = argument(place.argument);
  const bool vector = arg.form == PROVE_VECTOR;
  if (vector && place.entry && (*place.entry < 0 || *place.entry >= arg.arity)) {
    violated(place, arg.ragged ? FOUND_ROW_OUTSIDE : FOUND_POINTER_OUTSIDE, where, arg.arity, *place.entry);
    return false;
  }
  if (place.kind == Place::Argument && place.component &&
      (*place.component < 0 || *place.component >= arg.dim)) {
    violated(place, FOUND_COMPONENT_OUTSIDE, where, arg.dim, *place.component);
    return false;
  }
  if ((vector && !place.entry) || (place.kind == Place::Argument && !place.component)) {
    doubt(place, where->getExprLoc(), FOUND_LOST_INDEX);
    return false;
  }
  return true;
}

// Constants of op_decl_const are declared in the generated text.
static bool is_constant(const clang::VarDecl *variable, const clang::SourceManager &sources) {
  return variable && variable->hasGlobalStorage() && sources.isWrittenInMainFile(variable->getLocation());
}

void Rules::outside(const clang::VarDecl *variable, const std::string &name, int64_t size, Number index,
                    const clang::Expr *where) {
  const bool constant = is_constant(variable, context_.getSourceManager());
  if (!index)
    whole(PROVE_UNKNOWN, constant ? FOUND_CONSTANT_INDEX : FOUND_ARRAY_INDEX, where->getExprLoc(), name);
  else
    whole(PROVE_VIOLATED,
          constant    ? FOUND_CONSTANT_OUTSIDE
          : size == 1 ? FOUND_VARIABLE_OUTSIDE
                      : FOUND_ARRAY_OUTSIDE,
          where->getExprLoc(), name, size, *index);
}

// How many values a variable has, in all rows of all its arrays.
int64_t Rules::values_of(const clang::VarDecl *variable) const {
  const auto *array = context_.getAsConstantArrayType(variable->getType());
  return array ? static_cast<int64_t>(context_.getConstantArrayElementCount(array)) : 1;
}

void Rules::index(const clang::Expr *array, Number index, int64_t size, const Place &place) {
  if (index && *index >= 0 && *index < size)
    return;
  if (index && place.kind == Place::Local && place.variable && place.component && *place.component >= 0 &&
      *place.component < values_of(place.variable)) {
    whole(PROVE_UNKNOWN, FOUND_NEXT_ROW, array->getExprLoc(), place.variable->getName().str());
    return;
  }
  array = array->IgnoreParenImpCasts();
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(array);
  std::string words;
  llvm::raw_string_ostream stream(words);
  array->printPretty(stream, nullptr, clang::PrintingPolicy(context_.getLangOpts()));
  outside(name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr, stream.str(), size, index, array);
}

// A variable that is reached through a pointer has all its elements, whatever rows they are in. One that is used as another
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

void Rules::unset(const clang::VarDecl *variable, const clang::Expr *where) {
  for (int i = 0; i < request_.narguments; i++)
    if (argument(i).ragged && argument(i).arity == 0) {
      whole(PROVE_VIOLATED, FOUND_UNSET, where->getExprLoc(), variable->getName().str());
      return;
    }
}

void Rules::keeps_extremum(bool minimum) {
  keeps_next_ = minimum ? 1 : 2;
}

static unsigned flat(const Place &place, int dim) {
  return static_cast<unsigned>(*place.entry * dim + *place.component);
}

void Rules::read(const Place &place, const clang::Expr *where, const State &state) {
  if (place.variable && (place.kind == Place::Local || place.kind == Place::Lasting))
    inside_variable(place, where);
  if (place.kind == Place::Pointers)
    inside(place, where);
  for (About &one : about_) // through a pointer that is not known
    one.reads |= place.kind == Place::Elsewhere;
  if (place.kind != Place::Argument)
    return;
  const prove_argument &arg = argument(place.argument);
  const bool known = inside(place, where);
  const bool fresh = !known || !state.written[static_cast<size_t>(place.argument)].test(flat(place, arg.dim));
  about(place.argument).reads |= fresh;
  if (arg.access == OP_INC)
    violated(place, FOUND_INC_READ, where);
  if (arg.access != OP_WRITE || !known || !fresh)
    return;
  if (about(place.argument).sometimes.test(flat(place, arg.dim)) || about(place.argument).doubtful)
    lost(place, where->getExprLoc(), FOUND_LOST_ORDER);
  else
    violated(place, FOUND_WRITE_READ_FIRST, where);
}

// The rule that the change breaks, or FOUND_NONE.
prove_found Rules::broken(const prove_argument &arg, Change change, Compared compared) {
  if (arg.access == OP_READ || arg.form == PROVE_NUMBERS)
    return FOUND_READ_WRITTEN;
  if (arg.access == OP_INC && change != Change::Increase)
    return change == Change::Assign ? FOUND_INC_ASSIGNED : FOUND_INC_CHANGED;
  if ((arg.access == OP_MIN || arg.access == OP_MAX) &&
      (change != Change::Assign || compared != Compared::Rightly))
    return arg.access == OP_MIN ? FOUND_MIN_NOT_COMPARED : FOUND_MAX_NOT_COMPARED;
  return FOUND_NONE;
}

void Rules::note_stored(const Place &place, const std::string &same) {
  About &one = about(place.argument);
  const auto at = one.values.emplace(place.component ? *place.component : -1, same).first;
  one.differs |= same.empty() || at->second != same;
}

// A value that is set at an unknown place may be anywhere.
std::string Rules::words_of(const About &about) {
  const auto anywhere = about.values.find(-1);
  std::string words;
  for (const auto &[component, value] : about.values) {
    if (about.differs || (anywhere != about.values.end() && value != anywhere->second))
      return "";
    words += std::to_string(component) + " " + value + "\n";
  }
  return anywhere == about.values.end() ? words : "-1 " + anywhere->second + "\n";
}

std::vector<prove_fact> Rules::facts() const {
  std::vector<prove_fact> facts;
  std::map<std::string, int> numbers;
  for (const About &one : about_) {
    const std::string words = words_of(one);
    const int number = static_cast<int>(numbers.size()) + 1;
    const bool writes = argument(static_cast<int>(facts.size())).access == OP_WRITE;
    facts.push_back({writes && one.finding.verdict != PROVE_PROVED, one.reads,
                     words.empty() ? 0 : numbers.emplace(words, number).first->second});
  }
  return facts;
}

void Rules::write(const Place &place, const clang::Expr *where, State &state, Change change,
                  Compared compared, bool surely, const std::string &same) {
  const int keeps_now = std::exchange(keeps_next_, 0);
  if (place.variable && (place.kind == Place::Local || place.kind == Place::Lasting))
    inside_variable(place, where);
  if (place.kind == Place::Lasting)
    whole(PROVE_VIOLATED, FOUND_KEPT, where->getExprLoc(), place.variable->getName().str());
  for (About &one : about_)
    one.differs |= place.kind == Place::Elsewhere;
  if (place.kind != Place::Argument)
    return;
  const prove_argument &arg = argument(place.argument);
  const bool known = inside(place, where);
  note_stored(place, same);
  const prove_found what = broken(arg, change, compared);
  if (what != FOUND_NONE)
    violated(place, what, where, compared == Compared::Wrongly);
  const auto i = static_cast<size_t>(place.argument);
  About &one = about(place.argument);
  one.keeps |= keeps_now ? keeps_now : 3;
  one.doubtful |= !known || !surely;
  if (!known)
    return;
  const unsigned bit = flat(place, arg.dim);
  if (surely)
    one.sometimes.set(bit);
  if (state.perhaps[i].test(bit) && !state.written[i].test(bit))
    one.in_turn.set(bit);
  state.written[i].set(bit);
  state.perhaps[i].set(bit);
}

void Rules::unwritten(int a, int component) {
  const About &one = about(a);
  const auto bit = static_cast<unsigned>(component);
  const prove_found rule = one.in_turn.test(bit)     ? FOUND_WRITE_IN_TURN
                           : one.doubtful            ? FOUND_WRITE_MAYBE
                           : one.sometimes.test(bit) ? FOUND_WRITE_SOMETIMES
                                                     : FOUND_WRITE_NEVER;
  const prove_verdict verdict =
      rule == FOUND_WRITE_IN_TURN || rule == FOUND_WRITE_MAYBE ? PROVE_UNKNOWN : PROVE_VIOLATED;
  report(a, kernel_.getLocation(),
         {verdict, rule, "", component % argument(a).dim, component / argument(a).dim});
}

void Rules::at_exit(const State &state) {
  for (int a = 0; a < request_.narguments && state.reachable; a++) {
    const auto i = static_cast<size_t>(a);
    const prove_argument &arg = argument(a);
    if (arg.access != OP_WRITE || arg.form == PROVE_PAYLOAD || state.written[i].all())
      continue;
    for (int missing = state.written[i].find_first_unset(); missing >= 0;
         missing = state.written[i].find_next_unset(static_cast<unsigned>(missing)))
      unwritten(a, missing);
  }
}

std::vector<Finding> Rules::findings() const {
  std::vector<Finding> findings;
  for (const About &one : about_) {
    findings.push_back(one.finding);
    if (one.finding.what == FOUND_INC_READ || one.finding.what == FOUND_INC_ASSIGNED)
      findings.back().second = one.keeps == 3 ? 0 : one.keeps;
  }
  findings.push_back(whole_);
  return findings;
}

// ---- what is known at a point of the text ----

Value Value::joined(const Value &other) const {
  if (*this == other)
    return *this;
  if (kind != Bound || other.kind != Bound || !(target == other.target) || minus != other.minus)
    return Value();
  Value result = bound(target, above && other.above, below && other.below);
  result.minus = minus;
  return result;
}

void State::join(const State &other) {
  if (!other.reachable)
    return;
  if (!reachable) {
    *this = other;
    return;
  }
  for (auto at = values.begin(); at != values.end();) {
    const auto twin = other.values.find(at->first);
    const Value both = twin == other.values.end() ? Value() : at->second.joined(twin->second);
    if (both.kind == Value::Unknown)
      at = values.erase(at);
    else
      (at++)->second = both;
  }
  for (size_t i = 0; i < written.size(); i++)
    written[i] &= other.written[i];
  for (size_t i = 0; i < perhaps.size(); i++)
    perhaps[i] |= other.perhaps[i];
}

void State::forget(const clang::VarDecl *variable) {
  values.erase(values.lower_bound({variable, INT64_MIN}), values.upper_bound({variable, INT64_MAX}));
}

} // namespace op2jit

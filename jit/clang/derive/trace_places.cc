// Where values are: variables, rows of arguments, constants.
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <cfloat>

#include "trace.h"

namespace op2jit::derive {

// The first of them counts.
void Trace::refuse(derive_refusal what, clang::SourceLocation where, const std::string &name) {
  if (refusal_.what == DERIVE_FINE)
    refusal_ = {what, where, name};
}

Object *Trace::object(Object::Kind kind, const std::string &name, std::vector<Leaf> leaves) {
  objects_.push_back({kind, static_cast<int>(objects_.size()), name, std::move(leaves)});
  return &objects_.back();
}

// Arrays that are read at an index which is not known have at most so many values.
static constexpr int64_t most_gathered = 128;

Type Trace::type_of(clang::QualType type, clang::SourceLocation where) {
  type = type.getCanonicalType().getUnqualifiedType();
  if (const auto *list = type->getAs<clang::EnumType>())
    return type_of(list->getDecl()->getIntegerType(), where);
  const auto *simple = type->getAs<clang::BuiltinType>();
  for (Type one = Type::Bool; simple && one <= Type::Double;
       one = static_cast<Type>(static_cast<int>(one) + 1))
    if (simple->getName(context_.getPrintingPolicy()) == type_info(one).name)
      return one;
  refuse(DERIVE_TYPE, where, type.getAsString());
  return Type::Int;
}

void Trace::flatten(clang::QualType type, const std::string &path, clang::SourceLocation where,
                    std::vector<Leaf> &out) {
  type = type.getCanonicalType();
  if (out.size() > 100000)
    return refuse(DERIVE_TOO_LONG, where);
  if (const auto *array = context_.getAsConstantArrayType(type)) {
    for (uint64_t i = 0; i < array->getSize().getZExtValue() && !refused(); i++)
      flatten(array->getElementType(), path + "[" + std::to_string(i) + "]", where, out);
    return;
  }
  if (const auto *record = type->getAs<clang::RecordType>()) {
    if (record->getDecl()->isUnion())
      return refuse(DERIVE_TYPE, where, type.getAsString());
    for (const clang::FieldDecl *field : record->getDecl()->fields()) {
      if (field->isBitField())
        return refuse(DERIVE_TYPE, where, type.getAsString());
      flatten(field->getType(), field->getName().empty() ? path : path + "." + field->getName().str(), where,
              out);
    }
    return;
  }
  if (type->isPointerType())
    out.push_back({Type::Long, true, path});
  else
    out.push_back({type_of(type, where), false, path});
}

const std::vector<Leaf> &Trace::leaves_of(clang::QualType type, clang::SourceLocation where) {
  const clang::Type *key = type.getCanonicalType().getUnqualifiedType().getTypePtr();
  auto [at, is_new] = leaves_.try_emplace(key);
  if (is_new)
    flatten(type, "", where, at->second);
  return at->second;
}

int64_t Trace::leaves_before(const clang::FieldDecl *field, clang::SourceLocation where) {
  int64_t count = 0;
  for (const clang::FieldDecl *other : field->getParent()->fields()) {
    if (other == field)
      break;
    count += size_of(other->getType(), where);
  }
  return count;
}

// A constant array has its values from the text; a constant of the program is known by its name.
Object *Trace::constant_object(const clang::VarDecl *variable, clang::SourceLocation where) {
  Object *&known = constants_[variable];
  if (known)
    return known;
  const clang::SourceManager &sources = context_.getSourceManager();
  const bool of_program =
      variable->isFileVarDecl() && sources.isInMainFile(sources.getExpansionLoc(variable->getLocation()));
  if (!of_program && !(variable->getType().isConstant(context_) && variable->getAnyInitializer())) {
    refuse(DERIVE_KEPT, where, variable->getName().str());
    return known = object(Object::Local, variable->getName().str(), leaves_of(variable->getType(), where));
  }
  known = object(of_program ? Object::Global : Object::Table, variable->getName().str(),
                 leaves_of(variable->getType(), where));
  if (of_program) {
    int active = -1;
    for (int i = 0; i < request_.nconstants; i++)
      if (known->name == request_.constants[i].name)
        active = i;
    known->which = static_cast<int>(program_.globals.size());
    program_.globals.push_back({known->name, !variable->getType()->isArrayType(), active});
    // An integer that decides how often loops run is as good as one in the text.
    const clang::APValue *fixed = variable->getType()->isIntegerType() && variable->getAnyInitializer() &&
                                          variable->getType().isConstant(context_)
                                      ? variable->evaluateValue()
                                      : nullptr;
    if (fixed && fixed->isInt()) {
      known->kind = Object::Table;
      known->which = static_cast<int>(program_.tables.size());
      program_.tables.push_back({known->name, {from(*fixed, variable->getType()).node}});
    }
    return known;
  }
  const clang::APValue *values = variable->evaluateValue();
  const Value all = values ? from(*values, variable->getType()) : Value();
  if (all.kind == Value::None) {
    refuse(DERIVE_STATEMENT, where, "a constant whose value is not known");
    return known;
  }
  known->which = static_cast<int>(program_.tables.size());
  program_.tables.push_back({known->name, {}});
  for (const Value &leaf : all.kind == Value::Record ? all.leaves : std::vector<Value>{all})
    program_.tables.back().values.push_back(leaf.node);
  return known;
}

Object *Trace::object_of(const clang::VarDecl *variable, clang::SourceLocation where) {
  if (variable->hasGlobalStorage())
    return constant_object(variable, where);
  Object *&known = frames_.back().variables[variable];
  if (!known) // a case label stands behind its declaration
    known = object(Object::Local, variable->getName().str(), leaves_of(variable->getType(), where));
  return known;
}

Node *Trace::index(Node *value) {
  return value->type == Type::Int || value->type == Type::Long ? value : builder_.cast(Type::Long, value);
}

Place Trace::element(const Place &base, Node *by, clang::QualType type) {
  if (!base.object)
    return base;
  Place moved = base;
  const clang::SourceLocation nowhere;
  const int64_t stride =
      base.object->kind == Object::Handles || type->isPointerType() ? 1 : size_of(type, nowhere);
  by = index(by);
  Node *far = stride == 1 ? by : builder_.binary(Op::Mul, by->type, by, builder_.integer(stride, by->type));
  const Type wide = far->type == Type::Long || moved.offset->type == Type::Long ? Type::Long : Type::Int;
  const bool starts = moved.offset->is_number(0);
  moved.offset =
      starts ? far
             : builder_.binary(Op::Add, wide, builder_.cast(wide, moved.offset), builder_.cast(wide, far));
  return moved;
}

// ---- loads ----

Value Trace::load(const Place &at, clang::QualType type, clang::SourceLocation where) {
  type = type.getCanonicalType();
  const std::vector<Leaf> leaves = leaves_of(type, where);
  if (refused())
    return Value::of(builder_.zero(leaves.empty() ? Type::Int : leaves[0].type));
  if (!type->isRecordType() && !type->isArrayType())
    return load_leaf(at, leaves[0], where);
  Value all;
  all.kind = Value::Record;
  for (size_t i = 0; i < leaves.size(); i++)
    all.leaves.push_back(load_leaf(moved(builder_, at, static_cast<int64_t>(i)), leaves[i], where));
  return all;
}

Value Trace::load_leaf(const Place &at, const Leaf &leaf, clang::SourceLocation where) {
  const Value nothing = leaf.is_pointer ? Value::to({}) : Value::of(builder_.zero(leaf.type));
  if (!at.object) {
    refuse(DERIVE_POINTER, where);
    return nothing;
  }
  const int64_t offset = at.offset->number;
  const bool fixed = at.offset->op == Op::Number;
  switch (at.object->kind) {
  case Object::Handles: {
    Node *zero = builder_.integer(0);
    return Value::to({program_.rows[static_cast<size_t>(at.object->argument)], index(at.offset), zero});
  }
  case Object::Row: return load_row(at, leaf, where);
  case Object::Global: return Value::of(builder_.indexed(Op::Global, leaf.type, at.object->which, at.offset));
  case Object::Table: {
    const std::vector<Node *> &values = program_.tables[static_cast<size_t>(at.object->which)].values;
    if (!fixed)
      return Value::of(builder_.indexed(Op::Table, leaf.type, at.object->which, at.offset));
    if (offset >= 0 && offset < static_cast<int64_t>(values.size()))
      return Value::of(values[static_cast<size_t>(offset)]);
    return nothing;
  }
  case Object::Local: break;
  }
  if (!fixed)
    return leaf.is_pointer ? (refuse(DERIVE_POINTER, where, at.object->name), nothing)
                           : gathered(at, leaf.type, where);
  const auto found = state_.find({at.object->id, offset});
  if (found != state_.end() && (found->second.kind == Value::Pointer) == leaf.is_pointer)
    return found->second;
  refuse(found == state_.end() ? DERIVE_UNSET : DERIVE_POINTER_CAST, where, at.object->name);
  return nothing;
}

Value Trace::load_row(const Place &at, const Leaf &leaf, clang::SourceLocation where) {
  const Object &row = *at.object;
  const derive_argument &is = argument(row);
  const int64_t length = static_cast<int64_t>(row.leaves.size());
  const bool fixed = at.entry->op == Op::Number && at.offset->op == Op::Number;
  const bool plain = !row.leaves.empty() && row.leaves[0].path == "[0]"; // no struct
  if (!is.present)
    return Value::of(builder_.zero(leaf.type));
  const bool only_read = is.is.form == PROVE_NUMBERS || is.is.access == OP_READ;
  if (fixed && (at.offset->number < 0 || at.offset->number >= length))
    return no_value(DERIVE_POINTER, where, row.name, leaf.type);
  if (fixed && row.leaves[static_cast<size_t>(at.offset->number)].type != leaf.type)
    refuse(DERIVE_POINTER_CAST, where, row.name);
  if (only_read && (at.offset->op == Op::Number || plain))
    return Value::of(builder_.load(leaf.type, value_of(row.argument), at.entry, at.offset));
  if (unread_[static_cast<size_t>(row.argument)])
    refuse(DERIVE_WRITTEN_AT, where, row.name);
  if (!fixed && is.is.ragged && (is.is.access == OP_MIN || is.is.access == OP_MAX))
    refuse(DERIVE_RAGGED_EXTREMUM, where, row.name);
  if (!fixed)
    return gathered(at, leaf.type, where);
  const int64_t where_in = at.entry->number * length + at.offset->number;
  const auto found = state_.find({row.id, where_in});
  if (found != state_.end())
    return found->second;
  return state_[{row.id, where_in}] = start_of_row(row, where_in, where);
}

// One of several values: which, is not known.
Value Trace::gathered(const Place &at, Type type, clang::SourceLocation where) {
  const Object &whole = *at.object;
  const int64_t length = static_cast<int64_t>(whole.leaves.size());
  const bool row = whole.kind == Object::Row, many = row && at.entry->op != Op::Number;
  const int64_t count = many ? argument(whole).is.arity * length : length,
                first = row && !many ? at.entry->number * length : 0;
  if (count > most_gathered || (many && argument(whole).is.ragged))
    return no_value(DERIVE_WRITTEN_AT, where, whole.name, type);
  std::vector<Node *> all;
  for (int64_t i = 0; i < count; i++) {
    const Leaf &leaf = whole.leaves[static_cast<size_t>(i % length)];
    auto found = state_.find({whole.id, first + i});
    if (found == state_.end() && row && leaf.type == type && !begins_empty(whole)) {
      const Place one = {at.object, builder_.integer((first + i) / length), builder_.integer(i % length)};
      all.push_back(load_row(one, leaf, where).node);
    } else
      all.push_back(found != state_.end() && found->second.node && found->second.node->type == type
                        ? found->second.node
                        : builder_.zero(type));
  }
  Node *which = at.offset;
  if (many)
    which = builder_.binary(Op::Add, Type::Long,
                            builder_.binary(Op::Mul, Type::Long, builder_.cast(Type::Long, at.entry),
                                            builder_.integer(length, Type::Long)),
                            builder_.cast(Type::Long, at.offset));
  return Value::of(builder_.element(builder_.array(type, std::move(all)), type, which));
}

// ---- stores ----

void Trace::store(const Place &at, const Value &what, clang::QualType type, clang::SourceLocation where) {
  if (refused())
    return;
  type = type.getCanonicalType();
  if (what.kind != Value::Record)
    return store_leaf(at, what, where);
  for (size_t i = 0; i < what.leaves.size(); i++)
    store_leaf(moved(builder_, at, static_cast<int64_t>(i)), what.leaves[i], where);
}

void Trace::store_leaf(const Place &at, const Value &what, clang::SourceLocation where) {
  if (!at.object)
    return refuse(DERIVE_POINTER, where);
  const Object &to = *at.object;
  const bool fixed = at.offset->op == Op::Number && at.entry->op == Op::Number;
  if (to.kind == Object::Local) {
    if (at.offset->op != Op::Number)
      return refuse(DERIVE_WRITTEN_AT, where, to.name);
    if (at.offset->number < 0 || at.offset->number >= static_cast<int64_t>(to.leaves.size()) ||
        (what.node && to.leaves[static_cast<size_t>(at.offset->number)].type != what.node->type))
      return refuse(DERIVE_POINTER_CAST, where, to.name);
    state_[{to.id, at.offset->number}] = what;
    return;
  }
  const derive_argument *is = to.kind == Object::Row ? &argument(to) : nullptr;
  if (!is || is->is.form == PROVE_NUMBERS || (is->is.form == PROVE_DATA && is->is.access == OP_READ) ||
      !what.node)
    return refuse(DERIVE_STATEMENT, where, "a change of what is only read");
  if (!is->present)
    return;
  const size_t number = static_cast<size_t>(to.argument);
  const bool writes = is->is.access == OP_WRITE;
  if (!fixed && !writes)
    return refuse(DERIVE_WRITTEN_AT, where, to.name);
  if (!fixed && !in_place_[number]) {
    in_place_[number] = again_ = true;
    return;
  }
  const auto known = state_.lower_bound({to.id, 0}); // what may be read here in the next round of a loop
  const bool is_known = known != state_.end() && known->first.first == to.id;
  if (!fixed && (is_known || to.leaves.empty() || to.leaves[0].path != "[0]"))
    return refuse(DERIVE_WRITTEN_AT, where, to.name);
  unread_[number] = unread_[number] || !fixed;
  const int64_t length = static_cast<int64_t>(to.leaves.size());
  if (fixed && (at.offset->number < 0 || at.offset->number >= length ||
                to.leaves[static_cast<size_t>(at.offset->number)].type != what.node->type))
    return refuse(DERIVE_POINTER_CAST, where, to.name);
  if (fixed)
    state_[{to.id, at.entry->number * length + at.offset->number}] = what;
  if (in_place_[number] && writes)
    builder_.effect(Op::Store, what.node->type, value_of(to.argument), {at.entry, at.offset, what.node});
}

// += of what nobody reads.
void Trace::add(const Place &at, Node *what, clang::SourceLocation where) {
  const Object &to = *at.object;
  if (!argument(to).present)
    return;
  if (at.entry->op != Op::Number || at.offset->op != Op::Number) {
    if (to.leaves.empty() || to.leaves[0].path != "[0]")
      return refuse(DERIVE_WRITTEN_AT, where, to.name);
    return builder_.effect(Op::Inc, what->type, value_of(to.argument), {at.entry, at.offset, what});
  }
  Value &sum = state_[{to.id, at.entry->number * static_cast<int64_t>(to.leaves.size()) + at.offset->number}];
  const bool first = !sum.node || sum.node->is_number(0);
  sum = Value::of(first ? what : builder_.binary(Op::Add, what->type, sum.node, what));
}

Value Trace::from(const clang::APValue &value, clang::QualType type) {
  const clang::SourceLocation nowhere;
  type = type.getCanonicalType();
  if (value.isInt())
    return Value::of(builder_.integer(value.getInt().isSigned()
                                          ? value.getInt().getSExtValue()
                                          : static_cast<int64_t>(value.getInt().getZExtValue()),
                                      type_of(type, nowhere)));
  if (value.isFloat()) {
    const Type kind = type_of(type, nowhere);
    return Value::of(builder_.real(
        kind == Type::Float ? value.getFloat().convertToFloat() : value.getFloat().convertToDouble(), kind));
  }
  Value all;
  const auto add = [&](const clang::APValue &part, clang::QualType of) {
    const Value one = from(part, of);
    if (one.kind == Value::Record)
      all.leaves.insert(all.leaves.end(), one.leaves.begin(), one.leaves.end());
    else if (one.kind != Value::None)
      all.leaves.push_back(one);
    return one.kind != Value::None;
  };
  if (value.isArray()) {
    const auto *array = context_.getAsConstantArrayType(type);
    for (unsigned i = 0; array && i < value.getArraySize(); i++)
      if (!add(i < value.getArrayInitializedElts() ? value.getArrayInitializedElt(i) : value.getArrayFiller(),
               array->getElementType()))
        return {};
  } else if (value.isStruct()) {
    for (const clang::FieldDecl *field : type->castAs<clang::RecordType>()->getDecl()->fields())
      if (!add(value.getStructField(field->getFieldIndex()), field->getType()))
        return {};
  } else
    return {};
  all.kind = Value::Record;
  return all;
}

// ---- what a row that the kernel changes holds before it does ----

Node *farthest(Builder &builder, Type type, bool largest) {
  const double most = type == Type::Float ? FLT_MAX : DBL_MAX; // infinity is no number to OP2_FP=fast
  if (is_real(type))
    return builder.real(largest ? most : -most, type);
  const TypeInfo &info = type_info(type);
  const int64_t bits = info.bits == 64 ? -1 : (int64_t{1} << info.bits) - 1; // all of them
  const int64_t top = info.is_signed ? static_cast<int64_t>(static_cast<uint64_t>(bits) >> 1) : bits;
  return builder.integer(largest ? top : info.is_signed ? -top - 1 : 0, type);
}

Value Trace::start_of_row(const Object &row, int64_t at, clang::SourceLocation where) {
  const prove_argument &is = argument(row).is;
  const int64_t length = static_cast<int64_t>(row.leaves.size());
  const Type type = row.leaves[static_cast<size_t>(at % length)].type;
  if (is.access == OP_RW)
    return Value::of(builder_.load(type, value_of(row.argument), builder_.integer(at / length),
                                   builder_.integer(at % length)));
  switch (is.access) {
  case OP_INC: return Value::of(builder_.zero(type));
  case OP_MIN:
  case OP_MAX: return Value::of(farthest(builder_, type, is.access == OP_MIN));
  default: return no_value(DERIVE_UNSET, where, row.name, type);
  }
}

} // namespace op2jit::derive

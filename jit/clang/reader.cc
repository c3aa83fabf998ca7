// The reader's face: the table of jit/texts.h.
#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Parse/ParseAST.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "doubts.h"
#include "flags.h"
#include "jit/clang/front.h"
#include "jit/clang/messages.h"
#include "needs.h"
#include "tokens.h"

namespace op2jit {
namespace {

struct Answer {
  std::deque<std::string> strings;
  std::deque<std::vector<read_variable>> variables;
  std::deque<std::vector<read_origin>> origins;
  std::vector<read_kernel> kernels;
  std::vector<const clang::FunctionDecl *> functions; // of each kernel
  std::vector<const char *> files;
  std::string why, unit, from;
  std::string doubt; // of the whole unit

  const char *keep(const std::string &text) {
    strings.push_back(text);
    return strings.back().c_str();
  }
};

// One op_par_loop, and what stands in the place of the kernel.
struct Call {
  const clang::Expr *kernel;
  const clang::StringLiteral *spelled;
  clang::SourceLocation at, end;
};

// op_seq.h makes of op_par_loop and op_decl_const calls of two functions that nobody defines.
class Calls : public Visitor {
public:
  std::vector<Call> loops;
  std::vector<const clang::VarDecl *> constants;
  bool opens_std = false; // a name without "std::" may be one of those

private:
  void statement(clang::Stmt *statement) override {
    const auto *call = llvm::dyn_cast<clang::CallExpr>(statement);
    const clang::FunctionDecl *function = call ? call->getDirectCallee() : nullptr;
    if (!function || !function->getDeclName().isIdentifier() || call->getNumArgs() < 1)
      return;
    if (function->getName() == "op2jit_kernel_is" && call->getNumArgs() == 2)
      loops.push_back({call->getArg(1),
                       llvm::dyn_cast<clang::StringLiteral>(call->getArg(0)->IgnoreParenImpCasts()),
                       call->getBeginLoc(), call->getEndLoc()});
    if (function->getName() == "op2jit_constant_is")
      if (const clang::VarDecl *variable = meant(call->getArg(0)))
        constants.push_back(variable->getCanonicalDecl());
  }
  void declaration(clang::Decl *declaration) override {
    if (const auto *directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(declaration))
      opens_std |= directive->getNominatedNamespace()->isStdNamespace();
  }
  static const clang::VarDecl *meant(const clang::Expr *value) {
    value = value->IgnoreParenCasts();
    if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(value))
      value = address->getSubExpr()->IgnoreParenCasts();
    const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(value);
    return name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  }
};

// Bodies of headers of the system are not needed.
class Consumer : public clang::ASTConsumer {
public:
  explicit Consumer(clang::CompilerInstance &compiler) : compiler_(compiler) {
  }
  bool shouldSkipFunctionBody(clang::Decl *declaration) override {
    return compiler_.getSourceManager().isInSystemHeader(declaration->getLocation());
  }

private:
  clang::CompilerInstance &compiler_;
};

// "namespace a { namespace {" around a declaration, and how many.
int open_spaces(const clang::Decl &declaration, std::string &out) {
  std::string words;
  int count = 0;
  for (const clang::DeclContext *around = declaration.getLexicalDeclContext(); around;
       around = around->getLexicalParent())
    if (const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(around)) {
      words = std::string(space->isInline() ? "inline " : "") + "namespace " + space->getNameAsString() +
              " { " + words;
      count++;
    }
  out += count ? words + "\n" : "";
  return count;
}

bool is_of_use(const clang::UsingDirectiveDecl &directive, const clang::ASTContext &context) {
  const clang::NamespaceDecl *meant = directive.getNominatedNamespace();
  return meant->isStdNamespace() || is_own(context, meant);
}

std::string text_of(const Scope &scope, const Needs &needs, const std::set<clang::SourceLocation> &constant,
                    std::vector<LineOrigin> &origins) {
  std::set<unsigned> all = needs.statements;
  std::string out;
  for (unsigned from : scope.directives())
    if (is_of_use(*llvm::cast<clang::UsingDirectiveDecl>(scope.at(from).declarations[0]), scope.context()))
      all.insert(from);
  for (unsigned from : all) {
    const clang::Decl &first = *scope.at(from).declarations[0];
    const int spaces = open_spaces(first, out);
    if (const auto *directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(&first))
      if (!directive->getNominatedNamespace()->isStdNamespace() &&
          directive->getNominatedNamespace()->getParent()->isTranslationUnit())
        out += "namespace " + directive->getNominatedNamespace()->getNameAsString() + " {}\n";
    scope.tokens().print(from, scope.at(from).to, scope.context().getSourceManager(), constant, out, origins);
    for (int i = 0; i < spaces; i++)
      out += i + 1 < spaces ? "} " : "}\n";
  }
  return out;
}

/* ---- variables ----*/

const char *type_word(const clang::ASTContext &context, clang::QualType type) {
  const struct {
    clang::QualType type;
    const char *word;
  } words[] = {{context.DoubleTy, "double"},
               {context.FloatTy, "float"},
               {context.IntTy, "int"},
               {context.UnsignedIntTy, "unsigned int"},
               {context.LongLongTy, "long long"},
               {context.UnsignedLongLongTy, "unsigned long long"},
               {context.BoolTy, "bool"},
               {context.CharTy, "char"},
               {context.ShortTy, "short"}};
  for (const auto &row : words)
    if (context.hasSameUnqualifiedType(row.type, type))
      return row.word;
  return nullptr;
}

// False: it can be no constant of a text.
bool describe(const clang::ASTContext &context, const clang::VarDecl &variable,
              const std::vector<const clang::VarDecl *> &constants, Answer &answer, read_variable &out) {
  clang::QualType type = variable.getType();
  int dim = 1;
  const clang::ConstantArrayType *array = context.getAsConstantArrayType(type);
  if (array) {
    dim = static_cast<int>(array->getSize().getZExtValue());
    type = array->getElementType();
  } else if (const clang::IncompleteArrayType *open = context.getAsIncompleteArrayType(type)) {
    dim = 0;
    type = open->getElementType();
  }
  const char *word = type_word(context, type);
  if (!word || type.isVolatileQualified())
    return false;
  int declared = 0;
  for (const clang::VarDecl *constant : constants)
    if (constant == variable.getCanonicalDecl())
      declared = 1;
    else if (constant->getName() == variable.getName() && !declared)
      declared = -1;
  out = {answer.keep(variable.getNameAsString()), word, dim, array || dim == 0, declared,
         variable.isExternallyVisible() ? 1 : 0};
  return true;
}

/* ---- does the text mean the same by itself? ----*/

std::string first_error(const Output &output) {
  for (const compile_message &message : output.messages())
    if (message.severity == COMPILE_ERROR)
      return message.text;
  return "it does not compile";
}

std::string verify(const read_request &request, const read_kernel &kernel, const Needs &needs) {
  static const char entry[] = "op2jit_entry";
  std::string text = "#include \"op2jit_prelude.h\"\n";
  for (int i = 0; i < kernel.nvariables; i++) {
    const read_variable &variable = kernel.variables[i];
    text += std::string("extern const ") + variable.type + " " + variable.name;
    text += variable.is_array ? "[" + (variable.dim ? std::to_string(variable.dim) : "") + "];\n" : ";\n";
  }
  text += std::string(kernel.text) + "void *" + entry + "() { return (void *)&::" + kernel.function + "; }\n";
  const compile_file files[] = {{"text.cc", text.c_str(), text.size()},
                                {"op2jit_prelude.h", request.prelude, strlen(request.prelude)}};
  compile_request alone = {};
  alone.files = files;
  alone.nfiles = 2;
  Output output;
  output.of_kernel = false;
  std::string why;
  const bool parsed = parse(
      alone, output, [](clang::CompilerInstance &) { return std::make_unique<clang::ASTConsumer>(); },
      [&](clang::ASTContext &context) {
        const Tokens none;
        const Scope scope(context, none);
        Needs again(scope);
        for (clang::Decl *declaration : context.getTranslationUnitDecl()->decls())
          if (auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
            if (function->getDeclName().isIdentifier() && function->getName() == entry)
              again.begin(function);
        for (const std::string &signature : needs.signatures)
          if (!again.signatures.count(signature))
            why = "'" + signature.substr(0, signature.find(' ')) + "' would be another function in it";
      },
      true);
  return parsed ? why : "its text does not stand alone: " + first_error(output);
}

/* ---- one kernel ----*/

const clang::FunctionDecl *function_of(const clang::Expr *kernel) {
  kernel = kernel->IgnoreParenImpCasts();
  if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(kernel))
    kernel = address->getSubExpr()->IgnoreParenImpCasts();
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(kernel);
  return name ? llvm::dyn_cast<clang::FunctionDecl>(name->getDecl()) : nullptr;
}

// Finds a kernel's text, or says why it has none.
std::string find_text(const read_request &request, const Scope &scope, const Doubts &doubts,
                      const Calls &calls, const Call &call, const clang::FunctionDecl &function,
                      Answer &answer, read_kernel &kernel) {
  Needs needs(scope);
  needs.begin(call.kernel);
  std::string why = needs.why;
  answer.variables.emplace_back();
  std::vector<read_variable> &variables = answer.variables.back();
  for (const clang::VarDecl *variable : needs.variables) {
    read_variable described = {};
    if (describe(scope.context(), *variable, calls.constants, answer, described))
      variables.push_back(described);
    else if (why.empty())
      why = "it names the variable '" + variable->getNameAsString() + "' of the type '" +
            variable->getType().getAsString() + "', which no constant has";
  }
  kernel.variables = variables.data();
  kernel.nvariables = static_cast<int>(variables.size());
  const std::string doubt = doubts.about(scope, needs.statements);
  kernel.doubt = answer.keep(doubt.empty() ? answer.doubt : doubt);
  if (!why.empty())
    return why;
  std::vector<LineOrigin> origins;
  const auto make = [&](const std::set<clang::SourceLocation> &constant) {
    origins.clear();
    std::string text = text_of(scope, needs, constant, origins);
    add_entry(scope.context(), function, text, origins);
    kernel.text = answer.keep(text);
    return verify(request, kernel, needs);
  };
  why = make({});
  if (!why.empty()) {
    const std::set<clang::SourceLocation> constant = pointers_to_constants(scope, needs);
    if (!constant.empty())
      why = make(constant);
  }
  answer.origins.emplace_back();
  for (const LineOrigin &origin : origins)
    answer.origins.back().push_back(
        {static_cast<int>(origin.line), answer.keep(origin.file), static_cast<int>(origin.file_line)});
  kernel.origins = answer.origins.back().data();
  kernel.norigins = static_cast<int>(origins.size());
  if (!why.empty())
    kernel.text = nullptr;
  return why;
}

void read_kernel_of(const read_request &request, const Scope &scope, const Doubts &doubts, const Calls &calls,
                    const Call &call, Answer &answer) {
  const clang::SourceManager &sources = scope.context().getSourceManager();
  const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(call.at)),
                           end = sources.getPresumedLoc(sources.getExpansionRange(call.end).getEnd());
  const clang::FunctionDecl *function = function_of(call.kernel);
  const clang::FunctionDecl *first = function ? function->getCanonicalDecl() : nullptr;
  const auto known = std::find(answer.functions.begin(), answer.functions.end(), first);
  read_kernel kernel = {};
  kernel.function = kernel.doubt = "";
  if (!function)
    kernel.why = call.kernel->isTypeDependent() || call.kernel->isValueDependent()
                     ? "its op_par_loop is in a template, which may call several"
                     : "it is no plain function";
  else if (known != answer.functions.end())
    kernel = answer.kernels[static_cast<size_t>(known - answer.functions.begin())];
  else {
    kernel.function = answer.keep(entry_of(*function));
    kernel.why = answer.keep(find_text(request, scope, doubts, calls, call, *function, answer, kernel));
  }
  kernel.spelled = answer.keep(call.spelled ? call.spelled->getString().str() : "");
  kernel.file = answer.keep(at.getFilename());
  kernel.line = static_cast<int>(at.getLine());
  kernel.last_line = static_cast<int>(end.getLine());
  answer.kernels.push_back(kernel);
  answer.functions.push_back(first);
}

/* ---- the unit ----*/

// How reading a unit came out; unsure: that with few headers says nothing.
enum class Came { read, failed, unsure };

Came read_all(const read_request &request, const Tokens &tokens, const Doubts &doubts, bool few,
              clang::CompilerInstance &compiler, Answer &answer) {
  const Scope scope(compiler.getASTContext(), tokens);
  Calls calls;
  for (clang::Decl *declaration : compiler.getASTContext().getTranslationUnitDecl()->decls())
    if (is_own(compiler.getASTContext(), declaration))
      calls.walk(declaration);
  if (few && calls.opens_std)
    return Came::unsure;
  for (const Call &call : calls.loops)
    read_kernel_of(request, scope, doubts, calls, call, answer);
  return Came::read;
}

void say_error(const Output &output, const Flags &flags, Answer &answer) {
  for (const compile_message &message : output.messages())
    if (answer.why.empty() && message.severity == COMPILE_ERROR)
      answer.why = "the unit does not parse: " + std::string(message.file) + ":" +
                   std::to_string(message.line) + ": " + first_error(output) + "; flags from " + flags.from;
}

Came parse_unit(const read_request &request, const Flags &flags, bool few, Answer &answer) {
  Output output;
  output.of_kernel = false;
  FrontMessages messages(output, Warnings::None, false);
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&messages, false);
  if (!begin_unit(request, flags, few, compiler)) {
    answer.why = "it cannot be read: " + first_error(output);
    return Came::failed;
  }
  clang::Preprocessor &preprocessor = compiler.getPreprocessor();
  Tokens tokens;
  Doubts doubts;
  tokens.watch(preprocessor);
  doubts.watch(preprocessor, flags.known, request.is_gcc != 0);
  compiler.setASTConsumer(std::make_unique<Consumer>(compiler));
  compiler.createSema(clang::TU_Complete, nullptr);
  messages.BeginSourceFile(compiler.getLangOpts(), &preprocessor);
  clang::ParseAST(compiler.getSema(), false, true);
  messages.EndSourceFile();
  const bool wrong = output.has_errors() || compiler.getDiagnostics().hasErrorOccurred();
  Came came = wrong && few ? Came::unsure : Came::failed;
  if (wrong && !few)
    say_error(output, flags, answer);
  else if (!wrong) {
    const Judgement judgement = judge_sources(request, flags, doubts);
    answer.why = judgement.why;
    answer.doubt = judgement.doubt;
    if (answer.why.empty())
      came = read_all(request, tokens, doubts, few, compiler, answer);
  }
  for (const std::string &file : doubts.files())
    if (came != Came::unsure && file != flags.unit)
      answer.files.push_back(answer.keep(file));
  return came;
}

// The unit of a procedure that is no C++: where it is, and nothing of what it says.
bool read_place(const read_request &request, Answer &answer) {
  uint64_t address = 0;
  if (!llvm::StringRef(request.unit).drop_front().getAsInteger(16, address))
    answer.unit = find_place(request.program, address);
  if (answer.unit.empty())
    answer.why = "the program has no debug information of it, which says where its source is; compile with "
                 "-g, or with "
                 "op2jit-fc";
  else
    answer.files.push_back(answer.keep(answer.unit));
  return !answer.unit.empty();
}

bool read_unit(const read_request &request, Answer &answer) {
  if (*request.unit == '@')
    return read_place(request, answer);
  const Flags flags = find_flags(request);
  answer.unit = flags.unit;
  answer.from = flags.from;
  if (!flags.unit.empty())
    answer.files.push_back(answer.keep(flags.unit));
  if (!flags.why.empty()) {
    answer.why = flags.why;
    return false;
  }
  Came came = parse_unit(request, flags, true, answer);
  if (came == Came::unsure)
    came = parse_unit(request, flags, false, answer);
  return came == Came::read;
}

void read(const read_request *request, read_result *result) {
  auto *answer = new Answer;
  std::string reason;
  bool good = false;
  const outcome came = run_safely([&] { good = read_unit(*request, *answer); }, reason);
  if (came != outcome::done)
    answer->why = "the reader failed: " + reason;
  *result = {};
  result->status = came != outcome::done ? 2 : good ? 0 : 1;
  result->why = answer->why.c_str();
  result->unit = answer->unit.c_str();
  result->from = answer->from.c_str();
  result->kernels = answer->kernels.data();
  result->nkernels = good ? static_cast<int>(answer->kernels.size()) : 0;
  result->files = answer->files.data();
  result->nfiles = static_cast<int>(answer->files.size());
  result->owner = answer;
}

void release(read_result *result) {
  delete static_cast<Answer *>(result->owner);
  *result = {};
}

} // namespace

const reader reader_table = {READER_ABI, read, release};

} // namespace op2jit

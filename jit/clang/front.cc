#include "front.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/CharInfo.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Parse/ParseAST.h>
#include <llvm/ADT/CachedHashString.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <vector>

#include "back.h"
#include "messages.h"

namespace op2jit {

// ---- which lines of the prelude a text uses ----

static bool is_part(char c) {
  return clang::isAsciiIdentifierContinue(c);
}

// clang knows the functions of <math.h>, and declaring one is dear: of the prelude's two hundred a kernel names a few, and of
// clang's own four hundred macros none.
class Named {
public:
  // Knows the words of all files of the request but the prelude. They must outlive this.
  explicit Named(const compile_request &request);
  // False: words come to be by ## or across lines, so that any may be named, or the prelude is C++.
  bool is_known() const {
    return known_;
  }
  // The text with empty lines in place of those that define or declare what nobody names. What is kept is asked for what it
  // names. An #if up to its #endif is one line here, and nothing depends on its condition. The text must outlive this.
  std::string of(llvm::StringRef text);

  static bool is_prelude(const compile_file &file);

private:
  void add(llvm::StringRef text);
  bool has(llvm::StringRef word) const {
    return words_.contains(llvm::CachedHashStringRef(word));
  }
  llvm::DenseSet<llvm::CachedHashStringRef> words_;
  bool known_ = true;
};

bool Named::is_prelude(const compile_file &file) {
  return llvm::StringRef(file.name) == "op2jit_prelude.h";
}

Named::Named(const compile_request &request) {
  known_ = !is_cxx(request);
  for (int i = 0; known_ && i < request.nfiles; i++)
    if (!is_prelude(request.files[i])) {
      const llvm::StringRef text(request.files[i].text, request.files[i].length);
      known_ = !text.contains("##") && !text.contains("%:%:") && !text.contains("\?\?=\?\?=");
      for (size_t at = 0; known_ && (at = text.find("\\\n", at)) != llvm::StringRef::npos; at++)
        known_ = at == 0 || !is_part(text[at - 1]);
      add(text);
    }
}

void Named::add(llvm::StringRef text) {
  for (const char *at = text.begin(), *end = text.end(); at < end;) {
    const char *start = at;
    while (at < end && is_part(*at))
      at++;
    if (at > start)
      words_.insert(llvm::CachedHashStringRef(llvm::StringRef(start, static_cast<size_t>(at - start))));
    else
      at++;
  }
}

// A line, or an #if with all up to its #endif. Without names it is always needed.
struct Unit {
  llvm::StringRef text;
  llvm::SmallVector<llvm::StringRef, 2> names;
  bool kept = false;

  void name_macro(llvm::StringRef line) {
    if (line.consume_front("#define "))
      names.push_back(line.take_while(is_part));
  }
  // Words that stand directly before that character; in a function's body only those that are our own.
  void name_before(llvm::StringRef line, char mark, bool own) {
    for (size_t at = line.find(mark); at != llvm::StringRef::npos; at = line.find(mark, at + 1)) {
      size_t start = at;
      while (start > 0 && is_part(line[start - 1]))
        start--;
      const llvm::StringRef word = line.slice(start, at);
      if (!word.empty() && (!own || word.starts_with("op2jit_")))
        names.push_back(word);
    }
  }
};

static Unit unit_at(llvm::StringRef text, size_t start) {
  Unit unit;
  const bool condition = text.substr(start).starts_with("#if");
  size_t end = text.find('\n', condition ? text.find("#endif", start) : start);
  end = end == llvm::StringRef::npos ? text.size() : end + 1;
  unit.text = text.slice(start, end);
  if (condition) {
    llvm::StringRef rest = unit.text;
    while (!rest.empty()) {
      const auto [line, more] = rest.split('\n');
      unit.name_macro(line);
      rest = more;
    }
    unit.name_before(unit.text, '(', true);
  } else if (unit.text.starts_with("#"))
    unit.name_macro(unit.text);
  else if (unit.text.starts_with("typedef"))
    unit.name_before(unit.text, ';', false);
  else
    unit.name_before(unit.text, '(', unit.text.contains('{'));
  return unit;
}

std::string Named::of(llvm::StringRef text) {
  std::vector<Unit> units;
  for (size_t at = 0; at < text.size(); at += units.back().text.size())
    units.push_back(unit_at(text, at));
  for (bool more = true; more;) {
    more = false;
    for (Unit &unit : units)
      if (!unit.kept &&
          (unit.names.empty() || llvm::any_of(unit.names, [&](llvm::StringRef one) { return has(one); }))) {
        unit.kept = more = true;
        add(unit.text);
      }
  }
  std::string out;
  for (const Unit &unit : units)
    if (unit.kept)
      out += unit.text;
    else
      out.append(unit.text.count('\n'), '\n');
  return out;
}

// ---- how much of a text is accepted ----
// Macros can make millions of words out of ten lines. Beyond these limits there is an error, not an endless compilation.

constexpr unsigned most_nesting = 4000;         // brackets of any kind within each other
constexpr unsigned most_errors = 20;            // after so many the rest is not read either
constexpr unsigned most_in_statement = 1000000; // words between two semicolons or braces
constexpr unsigned most_words = 5000000;

[[noreturn]] static void give_up(const clang::Preprocessor &preprocessor, const clang::Token &token,
                                 Output &output, const std::string &what) {
  const Spot spot = spot_of(preprocessor.getSourceManager(), token.getLocation());
  output.add(COMPILE_ERROR, spot.file, spot.line, spot.column, what);
  // The parser cannot be told to stop, so it is left behind with all it has.
  llvm::CrashRecoveryContext::GetCurrent()->HandleExit(1);
}

// Counts the words that the parser gets.
static void watch_bounds(clang::Preprocessor &preprocessor, Output &output) {
  unsigned in_statement = 0, in_text = 0;
  preprocessor.setTokenWatcher([&, in_statement, in_text](const clang::Token &token) mutable {
    in_text++;
    in_statement++;
    if (token.isOneOf(clang::tok::semi, clang::tok::l_brace, clang::tok::r_brace))
      in_statement = 0;
    if (in_statement > most_in_statement)
      give_up(preprocessor, token, output,
              "a statement has more than " + std::to_string(most_in_statement) + " words; split it");
    if (in_text > most_words)
      give_up(preprocessor, token, output,
              "after macros the text has more than " + std::to_string(most_words) +
                  " words; split the kernel");
  });
}

// ---- the files of a request ----

// Headers that a kernel may include. The generated text starts with their declarations, so the files are empty.
static const char *const headers[] = {"math.h", "stdint.h", "limits.h", "float.h", "stdbool.h", "stddef.h"};
static const char header_folder[] = "/op2jit/include";

using Files = llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>;

// A NUL byte would end the text for clang; nothing that a person writes holds one.
static bool free_of_nul(const compile_file &file, Output &output) {
  const llvm::StringRef text(file.text, file.length);
  const size_t at = text.find('\0');
  if (at == llvm::StringRef::npos)
    return true;
  const llvm::StringRef before = text.take_front(at);
  const size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
  output.add(COMPILE_ERROR, file.name, static_cast<unsigned>(before.count('\n') + 1),
             static_cast<unsigned>(at - line_start + 1),
             "the text holds a NUL byte; remove it, or pass the text's true length");
  return false;
}

static Files virtual_files(const compile_request &request, Named *named, Output &output) {
  Files files(new llvm::vfs::InMemoryFileSystem);
  files->setCurrentWorkingDirectory("/");
  for (const char *header : headers)
    files->addFile(llvm::Twine(header_folder) + "/" + header, 0, llvm::MemoryBuffer::getMemBuffer(""));
  for (int i = 0; i < request.nfiles; i++) {
    const compile_file &file = request.files[i];
    if (!free_of_nul(file, output))
      return nullptr;
    const llvm::StringRef whole(file.text, file.length);
    auto text = named && Named::is_prelude(file)
                    ? llvm::MemoryBuffer::getMemBufferCopy(named->of(whole), file.name)
                    : llvm::MemoryBuffer::getMemBufferCopy(whole, file.name);
    if (!files->addFile(file.name, 0, std::move(text))) {
      output.add(COMPILE_ERROR, file.name, 0, 0, "two files of the request have this name");
      return nullptr;
    }
  }
  return files;
}

// clang's own command line, as its driver would write it. Nothing depends on the machine: the processor
// has exactly the features of the request; its name is for tuning only.
class Arguments {
public:
  Arguments(const compile_request &request, bool cxx) {
    add({"-triple", machine_of(request).triple, "-target-cpu", machine_of(request).baseline});
    add({"-x", cxx ? "c++" : "c", cxx ? "-std=gnu++20" : "-std=gnu17", "-emit-obj", "-O3"});
    add({"-vectorize-loops", "-vectorize-slp", "-mrelocation-model", "pic", "-pic-level", "2"});
    add({"-mframe-pointer=none", "-fopenmp-simd", "-nostdsysteminc", "-nobuiltininc", "-fno-ident"});
    add({"-discard-value-names", "-main-file-name", "loop", "-fdebug-compilation-dir=/"});
    add({"-resource-dir", "/op2jit", "-internal-isystem", header_folder});
    if (cxx)
      add({"-fno-rtti", "-fno-threadsafe-statics", "-Wno-register"});
    add("-fbracket-depth", std::to_string(most_nesting));
    if (request.cpu && *request.cpu)
      add("-tune-cpu", known_processor(request));
    machine_of(request).add_words(request, words_);
    add_features(request.features ? request.features : "");
    add_floating_point(request.fp ? request.fp : "contract");
    if (request.warnings)
      add({"-Wall", "-Wextra"});
    if (request.remarks) // for LLVM's remarks to have a line, the lines must be kept
      add({"-Rpass-missed=loop-vectorize"});
    if (llvm::StringRef(request.files[0].text, request.files[0].length).contains("\n#pragma op2jit bounds\n"))
      add({"-fsanitize=array-bounds", "-fsanitize-recover=array-bounds"});
    if (request.trial) // what is not asked for is not computed, and a null pointer is followed
      add({"-ffp-exception-behavior=maytrap", "-fno-delete-null-pointer-checks",
           request.trial == COMPILE_ZEROS ? "-ftrivial-auto-var-init=zero"
                                          : "-ftrivial-auto-var-init=pattern"});
    if (request.debug)
      add({"-debug-info-kind=constructor", "-dwarf-version=4", "-debugger-tuning=gdb"});
  }
  void add_main_file(llvm::StringRef name) {
    words_.push_back(name.str());
  }
  std::vector<const char *> words() const {
    std::vector<const char *> pointers;
    for (const std::string &word : words_)
      pointers.push_back(word.c_str());
    return pointers;
  }

private:
  void add(std::initializer_list<const char *> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  void add(const char *option, llvm::StringRef value) {
    words_.push_back(option);
    words_.push_back(value.str());
  }
  void add_features(llvm::StringRef list) {
    llvm::SmallVector<llvm::StringRef, 64> features;
    list.split(features, ',', -1, false);
    for (llvm::StringRef feature : features)
      if (feature.front() == '+' || feature.front() == '-') // a length is no feature of clang's
        add("-target-feature", feature);
  }
  void add_floating_point(llvm::StringRef fp) {
    if (fp == "fast")
      add({"-menable-no-infs", "-menable-no-nans", "-fapprox-func", "-funsafe-math-optimizations",
           "-fno-signed-zeros", "-mreassociate", "-freciprocal-math", "-ffp-contract=fast",
           "-fno-rounding-math", "-ffast-math", "-ffinite-math-only"});
    else if (fp.ends_with("strict"))
      add({"-ffp-contract=off"});
    else
      add({"-ffp-contract=on", "-DOP2JIT_EXP_INLINE"}); // the prelude asks for it
  }
  std::vector<std::string> words_;
};

// The library may know of features that this clang does not; without them its code runs all the same, but
// LLVM would complain on stderr. LLVM is asked as well, for clang takes any name for a feature of aarch64.
static void drop_unknown_features(clang::CompilerInstance &compiler) {
  auto plain = std::make_shared<clang::TargetOptions>();
  plain->Triple = compiler.getTargetOpts().Triple;
#if LLVM_VERSION_MAJOR >= 18
  std::string reason;
  const llvm::Target *code = llvm::TargetRegistry::lookupTarget(plain->Triple, reason);
  const std::unique_ptr<const llvm::MCSubtargetInfo> info(
      code ? code->createMCSubtargetInfo(plain->Triple, "", "") : nullptr);
  llvm::erase_if(compiler.getTargetOpts().FeaturesAsWritten, [&](const std::string &feature) {
    return info && llvm::none_of(info->getAllProcessorFeatures(), [&](const llvm::SubtargetFeatureKV &known) {
             return llvm::StringRef(feature).drop_front() == known.Key;
           });
  });
#endif
  const llvm::IntrusiveRefCntPtr<clang::TargetInfo> target(
      clang::TargetInfo::CreateTargetInfo(compiler.getDiagnostics(), plain));
  llvm::erase_if(compiler.getTargetOpts().FeaturesAsWritten, [&](const std::string &feature) {
    return feature.size() < 2 || !target->isValidFeatureName(llvm::StringRef(feature).drop_front());
  });
}

using Consume = llvm::function_ref<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance &)>;

// The pieces of clang are made here one by one, so that nothing else is. `named`: of the prelude and of clang's own macros only
// what it knows is there.
static bool parse_once(const compile_request &request, Named *named, Output &output, Consume consume,
                       llvm::function_ref<void(clang::ASTContext &)> done, bool cxx) {
  Files files = virtual_files(request, named, output);
  if (!files)
    return false;
  const char *main_name = request.files[0].name;
  Arguments arguments(request, cxx);
  arguments.add_main_file(main_name);

  FrontMessages messages(output, static_cast<Warnings>(request.warnings), request.nfiles > 1);
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&messages, false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments.words(), compiler.getDiagnostics()))
    return false;
  compiler.setInvocation(std::move(invocation));
  drop_unknown_features(compiler);
  for (const char *feature : machine_of(request).wished)
    compiler.getTargetOpts().FeaturesAsWritten.push_back(feature);
  // The options that the diagnostics were made with came before the command line.
  compiler.getDiagnostics().setErrorLimit(most_errors);
  clang::ProcessWarningOptions(compiler.getDiagnostics(), compiler.getDiagnosticOpts(), false);
  compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  compiler.createFileManager(files);
  compiler.createSourceManager(compiler.getFileManager());
  if (!compiler.createTarget() || !compiler.InitializeSourceManager(clang::FrontendInputFile(
                                      main_name, cxx ? clang::Language::CXX : clang::Language::C)))
    return false;
  compiler.createPreprocessor(clang::TU_Complete);
  compiler.createASTContext();
  clang::Preprocessor &preprocessor = compiler.getPreprocessor();
  if (named)
    preprocessor.setPredefines(named->of(preprocessor.getPredefines()));
  preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), compiler.getLangOpts());

  compiler.setASTConsumer(consume(compiler));
  compiler.createSema(clang::TU_Complete, nullptr);
  watch_bounds(preprocessor, output);
  messages.BeginSourceFile(compiler.getLangOpts(), &preprocessor);
  clang::ParseAST(compiler.getSema());
  messages.EndSourceFile();
  if (output.has_errors() || compiler.getDiagnostics().hasErrorOccurred())
    return false;
  done(compiler.getASTContext());
  return true;
}

// A wrong text is parsed again with the whole prelude: clang suggests names for a misspelt one, and may need those left out.
bool parse(const compile_request &request, Output &output, Consume consume,
           llvm::function_ref<void(clang::ASTContext &)> done, bool cxx) {
  Named named(request);
  const bool spares = !cxx && named.is_known();
  const size_t told = output.messages().size();
  if (parse_once(request, spares ? &named : nullptr, output, consume, done, cxx))
    return true;
  if (!spares)
    return false;
  output.forget(told);
  return parse_once(request, nullptr, output, consume, done, cxx);
}

clang::Preprocessor &preprocessor_of(clang::CompilerInstance &compiler) {
  return compiler.getPreprocessor();
}

static const clang::FunctionDecl *find_in(const clang::DeclContext &where, llvm::StringRef name) {
  const auto [first, rest] = name.split("::");
  const clang::FunctionDecl *found = nullptr;
  for (const clang::Decl *declaration : where.decls()) {
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (function && name_of(function) == name && function->isThisDeclarationADefinition())
      return function;
    const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(declaration);
    if (space && !found && (space->isAnonymousNamespace() || space->isInline()))
      found = find_in(*space, name);
    else if (space && !found && !rest.empty() && space->getName() == first)
      found = find_in(*space, rest);
  }
  return found;
}

const clang::FunctionDecl *find_kernel(const clang::ASTContext &context, llvm::StringRef name) {
  return find_in(*context.getTranslationUnitDecl(), name);
}

bool is_same(const clang::Expr *one, const clang::Expr *other, const clang::ASTContext &context) {
  llvm::FoldingSetNodeID left, right;
  one->IgnoreParenImpCasts()->Profile(left, context, true);
  other->IgnoreParenImpCasts()->Profile(right, context, true);
  return left == right;
}

llvm::StringRef name_of(const clang::FunctionDecl *function) {
  return function && function->getIdentifier() ? function->getName() : "";
}

const clang::CallExpr *row_call(const clang::Stmt *statement) {
  const auto *sum = llvm::dyn_cast<clang::BinaryOperator>(statement);
  const auto *call = sum ? llvm::dyn_cast<clang::CallExpr>(sum->getRHS()->IgnoreParenImpCasts()) : nullptr;
  const llvm::StringRef name = name_of(call ? call->getDirectCallee() : nullptr);
  return call && call->getNumArgs() == 4 && (name == "op2jit_row" || name == "op2_row") ? call : nullptr;
}

bool is_cxx(const compile_request &request) {
  return request.nfiles > 1 && llvm::StringRef(request.files[1].name).ends_with(".cc");
}

clang::CodeGenerator *lower(clang::CompilerInstance &compiler, llvm::LLVMContext &context) {
  return clang::CreateLLVMCodeGen(compiler.getDiagnostics(), "loop", &compiler.getVirtualFileSystem(),
                                  compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                  compiler.getCodeGenOpts(), context);
}

static std::unique_ptr<llvm::Module> lowered(const compile_request &request, llvm::LLVMContext &context,
                                             Output &output, bool cxx) {
  clang::CodeGenerator *generator = nullptr; // the compiler instance's
  std::unique_ptr<llvm::Module> module;
  const auto consume = [&](clang::CompilerInstance &compiler) {
    return std::unique_ptr<clang::ASTConsumer>(generator = lower(compiler, context));
  };
  parse(
      request, output, consume, [&](clang::ASTContext &) { module.reset(generator->ReleaseModule()); }, cxx);
  return module;
}

// Both languages share functions by external names; from here on these are internal.
static void keep_inside(llvm::Module &module) {
  for (llvm::GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() || value.hasLocalLinkage() || value.getName().starts_with("llvm.") ||
        value.getName() == "op2jit_range")
      continue;
    if (auto *object = llvm::dyn_cast<llvm::GlobalObject>(&value))
      object->setComdat(nullptr);
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
  }
}

std::unique_ptr<llvm::Module> front_end(const compile_request &request, llvm::LLVMContext &context,
                                        Output &output) {
  std::unique_ptr<llvm::Module> module = lowered(request, context, output, false);
  if (!module || !is_cxx(request))
    return module;
  std::unique_ptr<llvm::Module> kernel = lowered(request, context, output, true);
  if (!kernel)
    return nullptr;
  if (llvm::Linker::linkModules(*module, std::move(kernel))) {
    output.add(COMPILE_ERROR, "", 0, 0, "the kernel and the loop around it do not fit together");
    return nullptr;
  }
  keep_inside(*module);
  return module;
}

} // namespace op2jit

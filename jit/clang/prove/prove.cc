// The prover's face: the table of prover.h.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <deque>
#include <set>

#include "jit/clang/front.h"
#include "jit/clang/messages.h"
#include "jit/clang/prove/rows_misuse.h"
#include "jit/prover.h"
#include "prove_expressions.h"

namespace op2jit {
namespace {

struct Report {
  Output messages;
  std::unique_ptr<Lowered> lowered = std::make_unique<Lowered>();
  std::deque<Finding> kept; // whose words those of `findings` are
  std::vector<prove_finding> findings;
  std::vector<prove_fact> facts;
  std::vector<row_facts> rows;
  int says = 0;

  void add(int argument, const Finding &finding) {
    kept.push_back(finding);
    const Finding &f = kept.back();
    const int line = static_cast<int>(f.line), column = static_cast<int>(f.column);
    findings.push_back({argument,
                        f.verdict,
                        f.what,
                        f.file.c_str(),
                        line,
                        column,
                        f.parameter.c_str(),
                        f.name.c_str(),
                        {f.first, f.second}});
  }
};

// ---- what the text says, and which functions it reaches ----

// op_assert and assert, and macros of the text for them, end up as the last of these words.
class Words : public clang::PPCallbacks {
public:
  Words(const clang::SourceManager &sources, int &says) : sources_(sources), says_(says) {
  }
  void MacroExpands(const clang::Token &name, const clang::MacroDefinition &, clang::SourceRange,
                    const clang::MacroArgs *) override {
    const llvm::StringRef word = name.getIdentifierInfo()->getName();
    if (sources_.isInMainFile(name.getLocation())) // the library's own
      return;
    says_ |= word == "OP_ANY_ORDER"                           ? SAYS_ANY_ORDER
             : word == "OP_ROW"                               ? SAYS_ROWS
             : word == "op_assert" || word == "op2jit_assert" ? SAYS_SPEAKS
                                                              : 0;
  }

private:
  const clang::SourceManager &sources_;
  int &says_;
};

// Which functions a kernel reaches, by calls or by their addresses: none may reach itself.
class Reached {
public:
  explicit Reached(Rules &rules) : rules_(rules) {
  }

  void follow(const clang::FunctionDecl *function) {
    path_.push_back(function);
    each(function->getBody(), [this](const clang::Stmt *part) { look(part); });
    path_.pop_back();
    done_.insert(function);
  }
  int says = 0;

private:
  void look(const clang::Stmt *statement) {
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(name->getDecl()))
        reach(function, name);
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(statement))
      if (const auto *method = llvm::dyn_cast<clang::FunctionDecl>(member->getMemberDecl()))
        reach(method, member);
    if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
      reach(made->getConstructor(), made);
  }

  void reach(const clang::FunctionDecl *function, const clang::Expr *where) {
    const clang::FunctionDecl *definition = nullptr;
    const llvm::StringRef name = name_of(function);
    if (name == "printf" || name == "puts" || name == "putchar")
      says = SAYS_SPEAKS;
    if (!function->hasBody(definition) || done_.count(definition))
      return;
    for (const clang::FunctionDecl *caller : path_)
      if (caller == definition) {
        rules_.whole(PROVE_VIOLATED, FOUND_RECURSION, where->getExprLoc(), definition->getNameAsString());
        return;
      }
    follow(definition);
  }

  Rules &rules_;
  std::vector<const clang::FunctionDecl *> path_;
  std::set<const clang::FunctionDecl *> done_;
};

// ---- parameters ----

// Does a parameter have the argument's type, and const where it is only read?
bool check_parameter(const clang::ParmVarDecl &parameter, const prove_argument &argument, int number,
                     bool cxx, Rules &rules) {
  const int wanted = argument.form == PROVE_VECTOR ? 2 : 1;
  clang::QualType type = parameter.getType();
  int level = 0;
  for (; level < wanted && type->isPointerType(); level++)
    type = type->getPointeeType();
  const bool reads = argument.access == OP_READ || argument.form == PROVE_NUMBERS;
  const bool same = level == wanted && type_word(type) == argument.type;
  if (same && (!reads || type.isConstQualified() || cxx))
    return true;
  const int64_t row =
      cxx && level == wanted && type->isRecordType() ? rules.values_of_argument(type, number) : 0;
  if (row && argument.dim % row == 0)
    return true;
  rules.mismatched(same                    ? FOUND_PARAMETER_CONST
                   : level < wanted        ? level ? FOUND_PARAMETER_ROW : FOUND_PARAMETER_VALUE
                   : type->isPointerType() ? FOUND_PARAMETER_DEEP
                                           : FOUND_PARAMETER_TYPE,
                   parameter, number);
  return false;
}

int parameters_of(const prove_request &request) {
  return request.narguments ? prove_parameter(&request, request.narguments - 1) + 1 : 0;
}

row_facts look_at_rows(const KernelText &text) {
  row_facts found = {};
  found.why = doubt_of_text(text);
  if (!found.why)
    find_loops(text, found);
  find_stays(text, found);
  return found;
}

// Misuse of rows is looked for where the text does not compile, too: a compiler would speak of pointers.
class Consumer : public clang::ASTConsumer {
public:
  Consumer(const prove_request &request, Report &report) : request_(request), report_(report) {
  }
  void HandleTranslationUnit(clang::ASTContext &context) override {
    const clang::FunctionDecl *kernel = find_kernel(context, request_.kernel);
    const llvm::StringRef words(request_.files[1].text, request_.files[1].length);
    const bool ragged = std::any_of(request_.arguments, request_.arguments + request_.narguments,
                                    [](const prove_argument &one) { return one.ragged; });
    if (!kernel || context.getLangOpts().CPlusPlus || !(ragged || words.contains("OP_ROW")) ||
        static_cast<int>(kernel->getNumParams()) != parameters_of(request_))
      return;
    const KernelText text(context, request_, *kernel);
    const Misuse misuse =
        words.contains("op2jit_row") ? Misuse() : find_misuse(text); // of a macro that is no text of ours
    if (misuse.finding.verdict != PROVE_PROVED)
      report_.add(misuse.argument, misuse.finding);
    else if (ragged && !context.getDiagnostics().hasErrorOccurred())
      report_.rows.push_back(look_at_rows(text));
  }

private:
  const prove_request &request_;
  Report &report_;
};

void analyse(const prove_request &request, clang::ASTContext &context, Report &report) {
  if (!report.findings.empty())
    return;
  const clang::FunctionDecl *kernel = find_kernel(context, request.kernel);
  if (!kernel) {
    report.add(-1, {PROVE_VIOLATED, FOUND_NO_KERNEL, request.kernel});
    return;
  }
  Rules rules(context, request, *kernel);
  const bool cxx = context.getLangOpts().CPlusPlus;
  bool matches = static_cast<int>(kernel->getNumParams()) == parameters_of(request);
  if (!matches)
    rules.whole(PROVE_VIOLATED, FOUND_PARAMETER_COUNT, kernel->getLocation(), "", kernel->getNumParams());
  for (int i = 0; matches && i < request.narguments; i++)
    matches = check_parameter(*kernel->getParamDecl(static_cast<unsigned>(prove_parameter(&request, i))),
                              request.arguments[i], i, cxx, rules);
  Reached reached(rules);
  reached.follow(kernel);
  report.says |= reached.says;
  if (matches) {
    Walk(context, rules).kernel(*kernel, request);
    report.facts = rules.facts();
  }
  for (const compile_message &message : report.messages.messages())
    // not a message: the words of clang
    if (message.severity == COMPILE_WARNING && llvm::StringRef(message.text).contains("uninitialized when"))
      report.add(-1, {PROVE_VIOLATED, FOUND_COMPILER_UNSET, message.text, 0, 0, message.file, "",
                      static_cast<unsigned>(message.line), static_cast<unsigned>(message.column)});
  for (const OtherReading &other : cxx ? std::vector<OtherReading>() : find_other_readings(context)) {
    Rules reading(context, request, *kernel);
    reading.whole(PROVE_C_ONLY, other.what, other.where);
    report.add(-1, reading.findings().back());
  }
  const std::vector<Finding> findings = rules.findings();
  for (int i = -1; i < request.narguments; i++) {
    const Finding &finding = i < 0 ? findings.back() : findings[static_cast<size_t>(i)];
    if (finding.verdict != PROVE_PROVED)
      report.add(i, finding);
  }
}

void prove(const prove_request *request, prove_result *result) {
  auto *report = new Report;
  compile_request text = request->then ? *request->then : compile_request{};
  text.files = request->files;
  text.nfiles = request->nfiles;
  text.warnings = static_cast<int>(Warnings::Serious);
  clang::CodeGenerator *generator = nullptr; // the compiler instance's
  const bool lowers = request->then && !is_cxx(text);
  const auto consume = [&](clang::CompilerInstance &compiler) {
    std::vector<std::unique_ptr<clang::ASTConsumer>> both;
    report->findings.clear();
    report->rows.clear();
    clang::Preprocessor &preprocessor = preprocessor_of(compiler);
    preprocessor.addPPCallbacks(std::make_unique<Words>(preprocessor.getSourceManager(), report->says));
    both.push_back(std::make_unique<Consumer>(*request, *report));
    if (lowers) {
      report->lowered->context.setDiagnosticHandler(std::make_unique<BackMessages>(report->messages, false));
      both.emplace_back(generator = lower(compiler, report->lowered->context));
    }
    return std::make_unique<clang::MultiplexConsumer>(std::move(both));
  };
  const auto done = [&](clang::ASTContext &context) {
    analyse(*request, context, *report);
    if (generator)
      report->lowered->module.reset(generator->ReleaseModule());
  };
  *result = {};
  result->status = run_safely("prover", report->messages, [&] {
    report->lowered->is_whole = false;
    const bool parsed = parse(text, report->messages, consume, done, is_cxx(text));
    report->lowered->is_whole = true;
    return parsed;
  });
  result->findings = report->findings.data();
  result->nfindings = static_cast<int>(report->findings.size());
  result->facts = report->facts.empty() ? nullptr : report->facts.data();
  result->rows = report->rows.empty() ? nullptr : report->rows.data();
  result->says = report->says;
  report->messages.give(result);
  result->lowered = report->lowered->module ? reinterpret_cast<lowered *>(report->lowered.get()) : nullptr;
  result->owner = report;
}

void release(prove_result *result) {
  auto *report = static_cast<Report *>(result->owner);
  if (report && !report->lowered->is_whole)
    report->lowered.release(); // NOLINT: lost, see Lowered
  delete report;
  *result = {};
}

} // namespace

const prover prover_table = {PROVER_ABI, prove, release};

} // namespace op2jit

#include "output.h"

namespace op2jit {

const char *Output::keep(llvm::StringRef text) {
  strings_.emplace_back(text.str());
  return strings_.back().c_str();
}

void Output::add(compile_severity severity, llvm::StringRef file, unsigned line, unsigned column,
                 llvm::StringRef text) {
  if (severity == COMPILE_ERROR)
    errors_++;
  messages_.push_back({severity, keep(file), static_cast<int>(line), static_cast<int>(column), keep(text)});
}

void Output::forget(size_t kept) {
  for (; messages_.size() > kept; messages_.pop_back())
    errors_ -= messages_.back().severity == COMPILE_ERROR;
}

void Output::fill(compile_result *result, int status) {
  result->status = status;
  if (status == 0) {
    result->binary = object.data();
    result->size = object.size();
  }
  result->messages = messages_.data();
  result->nmessages = static_cast<int>(messages_.size());
  result->seconds_front = seconds_front;
  result->seconds_middle = seconds_middle;
  result->seconds_back = seconds_back;
  result->owner = this;
}

} // namespace op2jit

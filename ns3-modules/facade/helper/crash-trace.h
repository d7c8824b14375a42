// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CRASH_TRACE_H
#define FABRIC_CRASH_TRACE_H

#include <stdexcept>
#include <string>

namespace ns3
{
namespace fabric
{

/// A fatal error of ns-3 as an exception; its author has said what is wrong, and where.
class FatalError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/**
 * @brief Looks on while an exception is thrown: a catch clause of this type never catches, but
 * notes the stack for ThrownAt, since the handler is looked for before anything is unwound.
 *
 * Its type information is not the compiler's: the destructor is defined nowhere.
 */
class ThrowObserver
{
  public:
    virtual ~ThrowObserver();
};

void TraceCrashes(const char* path); ///< See PyorchTraceCrashes
std::string ThrownAt();              ///< See Facade

} // namespace fabric
} // namespace ns3

#endif // FABRIC_CRASH_TRACE_H

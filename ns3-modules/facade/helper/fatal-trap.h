// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FATAL_TRAP_H
#define FABRIC_FATAL_TRAP_H

#include "crash-trace.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace fabric
{

/**
 * @brief Turns what would end the process inside ns-3 into an exception while it is alive.
 *
 * ns-3 prints a fatal error or failed assertion to std::cerr, flushes the streams registered with
 * it and calls std::terminate. While a FatalGuard is alive one of those streams throws
 * FatalError with the printed text when it is flushed, and std::cerr is held back.
 * After that the simulation must not go on: it may be in the middle of anything.
 */
class FatalGuard
{
  public:
    FatalGuard();
    ~FatalGuard();
    FatalGuard(const FatalGuard&) = delete;
    FatalGuard& operator=(const FatalGuard&) = delete;

  private:
    struct State;
    static std::unique_ptr<State>& Unused();
    std::unique_ptr<State> m_state;
};

/// Call a function; what it throws becomes a std::runtime_error, also a fatal error of ns-3.
template <typename Function>
auto
TrapFatal(Function&& function)
{
    FatalGuard guard;
    try
    {
        return std::forward<Function>(function)();
    }
    catch (const ThrowObserver&) // never: it looks on
    {
        throw;
    }
    catch (const std::exception& error)
    {
        throw std::runtime_error(error.what()); // of a class that Python knows
    }
    catch (...)
    {
        throw std::runtime_error("an exception that is no std::exception");
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FATAL_TRAP_H

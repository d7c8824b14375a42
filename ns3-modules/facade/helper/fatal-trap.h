// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FATAL_TRAP_H
#define FABRIC_FATAL_TRAP_H

#include <functional>
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
 * std::runtime_error with the printed text when it is flushed, and std::cerr is held back.
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
    State* m_state;
};

/// Call a function; a fatal error of ns-3 in it becomes a std::runtime_error with its message.
template <typename Function>
auto
TrapFatal(Function&& function)
{
    FatalGuard guard;
    return std::forward<Function>(function)();
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FATAL_TRAP_H

// SPDX-License-Identifier: GPL-2.0-only

// Where a crash or an exception comes from: frames as "library offset", one per line, which
// addr2line turns into functions and lines afterwards.

#include "crash-trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <typeinfo>
#include <unistd.h>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr int MOST_FRAMES = 64;
constexpr unsigned MOST_SECONDS = 5; ///< To find the stack of a crash

/// A stack without its innermost frames. All of it may be used while a signal is handled.
struct Stack
{
    std::array<void*, MOST_FRAMES> frames;
    int size{0};

    [[gnu::always_inline]] void Take()
    {
        size = backtrace(frames.data(), MOST_FRAMES);
    }

    /**
     * Call `say` with pieces of text.
     * @param first innermost frame that is told
     * @param exact frame that was interrupted; others are about to return to behind a call
     */
    template <typename Say>
    void Tell(int first, int exact, Say&& say) const
    {
        for (int i = first; i < size; i++)
        {
            Dl_info library;
            if (!dladdr(frames[i], &library) || !library.dli_fname)
            {
                continue; // compiled just in time
            }
            const auto base = reinterpret_cast<uintptr_t>(library.dli_fbase);
            const auto offset = reinterpret_cast<uintptr_t>(frames[i]) - base - (i != exact);
            char digits[2 * sizeof(offset)];
            const auto end = std::to_chars(std::begin(digits), std::end(digits), offset, 16).ptr;
            say(library.dli_fname, std::strlen(library.dli_fname));
            say(" ", 1);
            say(digits, static_cast<size_t>(end - digits));
            say("\n", 1);
        }
    }
};

char g_crashPath[4096];
char g_crashStack[65536]; ///< A crash may be the end of the thread's own
thread_local Stack g_thrown;

volatile std::sig_atomic_t g_number;

/// Who looked for the stack waits for a lock that the crash has left taken: end without one.
void
OnDeadline(int)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, g_number);
    std::raise(g_number);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

void
OnCrash(int number)
{
    g_number = number;
    std::signal(SIGALRM, OnDeadline);
    alarm(MOST_SECONDS);
    Stack stack;
    stack.Take();
    const int file = open(g_crashPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const auto write = [file](const char* text, size_t size) {
        [[maybe_unused]] const auto written = ::write(file, text, size);
    };
    // The innermost frames are this function and the return from the signal.
    stack.Tell(2, 2, write);
    close(file);
    alarm(0);
    std::raise(number); // its own action is in force again
}

} // namespace

/// Stands where the type information of ThrowObserver is looked for, so other files see it.
class ThrowRecorder final : public std::type_info
{
  public:
    ThrowRecorder()
        : std::type_info("ThrowObserver")
    {
    }

    bool __do_catch(const std::type_info* thrown, void**, unsigned) const override
    {
        g_thrown.size = 0;
        if (*thrown != typeid(FatalError))
        {
            g_thrown.Take();
        }
        return false;
    }
};

ThrowRecorder g_throwRecorder asm("_ZTIN3ns36fabric13ThrowObserverE");

void
TraceCrashes(const char* path)
{
    std::strncpy(g_crashPath, path, sizeof(g_crashPath) - 1);
    g_thrown.Take(); // loads what it needs
    g_thrown.size = 0;

    struct sigaction action
    {
    };

    action.sa_handler = OnCrash;
    action.sa_flags = SA_RESETHAND | SA_ONSTACK;
    const stack_t stack{.ss_sp = g_crashStack, .ss_flags = 0, .ss_size = sizeof(g_crashStack)};
    sigaltstack(&stack, nullptr);
    for (const int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    {
        sigaction(number, &action, nullptr);
    }
}

std::string
ThrownAt()
{
    std::string text;
    // The innermost frames are those of the observer.
    g_thrown.Tell(2, -1, [&text](const char* piece, size_t size) { text.append(piece, size); });
    return text;
}

} // namespace fabric
} // namespace ns3

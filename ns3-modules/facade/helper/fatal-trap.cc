// SPDX-License-Identifier: GPL-2.0-only

#include "fatal-trap.h"

#include "ns3/fatal-impl.h"

#include <csignal>
#include <iostream>
#include <regex>
#include <sstream>

namespace ns3
{
namespace fabric
{

namespace
{

/// The part of what ns-3 prints that its author wrote: msg="...", or the failed condition.
std::string
MessageOf(const std::string& printed)
{
    std::smatch found;
    if (std::regex_search(printed, found, std::regex("msg=\"([\\s\\S]*?)\"(, \\+|, file=)")))
    {
        const std::string message = found[1];
        std::smatch condition;
        if (printed.find("NS_ASSERT failed") != std::string::npos &&
            std::regex_search(printed, condition, std::regex("file=([^,]*), line=([0-9]+)")))
        {
            return message + " (assertion at " + condition[1].str() + ":" + condition[2].str() +
                   ")";
        }
        return message;
    }
    return printed;
}

/// Stream buffer that throws what was printed to std::cerr when ns-3 flushes it before the end.
class ThrowingBuffer final : public std::streambuf
{
  public:
    explicit ThrowingBuffer(const std::ostringstream& printed)
        : m_printed(printed)
    {
    }

  private:
    int sync() override
    {
        throw FatalError(MessageOf(m_printed.str()));
    }

    const std::ostringstream& m_printed;
};

/// Stream buffer that passes on whole lines, as logs are. What ns-3 prints to std::clog before the
/// text of an error, time and node, ends in none and is dropped.
class LineBuffer final : public std::streambuf
{
  public:
    void PassTo(std::streambuf* next)
    {
        m_next = next;
    }

  private:
    int_type overflow(int_type character) override
    {
        if (traits_type::eq_int_type(character, traits_type::eof()))
        {
            return traits_type::not_eof(character);
        }
        m_line.push_back(traits_type::to_char_type(character));
        if (m_line.back() == '\n')
        {
            m_next->sputn(m_line.data(), static_cast<std::streamsize>(m_line.size()));
            m_next->pubsync();
            m_line.clear();
        }
        return character;
    }

    std::streambuf* m_next{nullptr};
    std::string m_line;
};

} // namespace

/// What is in force while a guard is alive.
struct FatalGuard::State
{
    std::ostringstream printed;
    LineBuffer lines;
    ThrowingBuffer throwing{printed};
    std::ostream stream{&throwing};
    std::streambuf* cerrBuffer{nullptr};
    std::streambuf* clogBuffer{nullptr};
    struct sigaction onSegfault; ///< ns-3 replaces it while it flushes, and is left by a throw
};

FatalGuard::FatalGuard()
{
    std::unique_ptr<State>& unused = Unused();
    m_state = unused ? std::move(unused) : std::make_unique<State>();
    m_state->stream.exceptions(std::ios::badbit); // or the exception ends in the stream's state
    m_state->cerrBuffer = std::cerr.rdbuf(m_state->printed.rdbuf());
    m_state->clogBuffer = std::clog.rdbuf(&m_state->lines);
    m_state->lines.PassTo(m_state->clogBuffer);
    sigaction(SIGSEGV, nullptr, &m_state->onSegfault);
    FatalImpl::RegisterStream(&m_state->stream);
}

FatalGuard::~FatalGuard()
{
    FatalImpl::UnregisterStream(&m_state->stream);
    sigaction(SIGSEGV, &m_state->onSegfault, nullptr);
    std::cerr.rdbuf(m_state->cerrBuffer);
    std::clog.rdbuf(m_state->clogBuffer);
    if (m_state->printed.view().empty() && m_state->stream.good())
    {
        Unused() = std::move(m_state);
    }
}

/// @return the streams of the last guard, if nothing was printed: to make them takes a microsecond
std::unique_ptr<FatalGuard::State>&
FatalGuard::Unused()
{
    static thread_local std::unique_ptr<State> unused;
    return unused;
}

} // namespace fabric
} // namespace ns3

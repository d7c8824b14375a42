// SPDX-License-Identifier: GPL-2.0-only

#ifndef FALCON_RECEIVER_H
#define FALCON_RECEIVER_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup falcon
 * @brief The memory of a network interface, which its host empties at a rate.
 *
 * Answers carry its level. **Source** isekai, `resource_manager.cc`: 32 levels. **Not modelled**
 * A packet that finds no room: the level is then the highest one, and nothing is refused.
 */
class FalconReceiveBuffer
{
  public:
    static constexpr uint32_t LEVELS = 32;

    /// @param hostRateBps at which it is emptied, 0: at once [bit/s]
    FalconReceiveBuffer(uint64_t hostRateBps = 0, uint32_t sizeBytes = 1)
        : m_hostRateBps(static_cast<double>(hostRateBps)),
          m_sizeBytes(sizeBytes)
    {
    }

    bool IsSlow() const ///< The host has a rate
    {
        return m_hostRateBps > 0;
    }

    void Add(uint64_t nowPs, uint32_t bytes) ///< Payload that has come [byte]
    {
        const double emptiedBytes =
            static_cast<double>(nowPs - m_nowPs) * 1e-12 * m_hostRateBps / 8;
        m_bytes = std::max(0.0, m_bytes - emptiedBytes) + bytes;
        m_nowPs = nowPs;
    }

    uint32_t Level() const ///< After the last Add, 0 to LEVELS - 1
    {
        return static_cast<uint32_t>(std::min<double>(LEVELS - 1, LEVELS * m_bytes / m_sizeBytes));
    }

  private:
    double m_hostRateBps;
    double m_sizeBytes;
    double m_bytes{0};   ///< In it
    uint64_t m_nowPs{0}; ///< Of the last Add [ps]
};

/**
 * @ingroup falcon
 * @brief The window of a message for the interface of its destination ("ncwnd").
 *
 * Each answer with a level below the target adds one packet; any other takes of the window its
 * share beyond the target, at most once per round trip. **Source** isekai, `swift.h`, as from the
 * second generation on.
 */
class FalconNicWindow
{
  public:
    void OnAck(uint32_t level, uint32_t targetLevel, uint64_t rttPs, uint64_t nowPs)
    {
        if (level < targetLevel)
        {
            m_packets = std::min(MOST, m_packets + 1);
        }
        else if (nowPs - m_decreasePs >= rttPs)
        {
            const double beyond = static_cast<double>(level - targetLevel) / level;
            m_packets = std::max(1.0, m_packets * (1 - std::min(MOST_DECREASE, BETA * beyond)));
            m_decreasePs = nowPs;
        }
    }

    double Packets() const
    {
        return m_packets;
    }

  private:
    static constexpr double FIRST = 64;          ///< "initial_ncwnd" [packet]
    static constexpr double MOST = 256;          ///< "max_nic_congestion_window" [packet]
    static constexpr double BETA = 0.8;          ///< "nic_multiplicative_decrease_factor" [1]
    static constexpr double MOST_DECREASE = 0.5; ///< "max_nic_multiplicative_decrease" [1]

    double m_packets{FIRST};
    uint64_t m_decreasePs{0}; ///< When it was last cut [ps]
};

} // namespace ns3

#endif // FALCON_RECEIVER_H

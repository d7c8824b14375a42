// SPDX-License-Identifier: GPL-2.0-only

#ifndef NSCC_WINDOW_H
#define NSCC_WINDOW_H

#include "ns3/congestion-control.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup uec
 * @brief The window of one flow under NSCC. Bytes are those on the wire.
 */
class NsccWindow
{
  public:
    /// What does not change; the names are those of the attributes of Nscc.
    struct Rules
    {
        uint64_t networkRttPs;    ///< Longest of the network, 0: that of the path [ps]
        double targetShare;       ///< Target delay over that [1]
        double mostBdp;           ///< First and largest window [bandwidth-delay product]
        uint32_t quickGate;       ///< Quick adaption below a window of 2 to the minus this [1]
        bool ignoresLastHopTrims; ///< The receiver's credit reacts to them
    };

    /// What follows from rate and round trip.
    struct Constants
    {
        double scale;        ///< "a": product of the network over 100 Gb/s times 12 us [1]
        double delayScale;   ///< "b": target delay over 12 us [1]
        double targetPs;     ///< "Q*": target of queueing delay [ps]
        double proportional; ///< "alpha" [byte/ps]
        double fair;         ///< "FI" [byte]
        double each;         ///< "eta": once per round trip [byte]
        double fast;         ///< "fi_scale": of what arrives without delay [1]
        double quickPs;      ///< Delay that asks for a quick adaption [ps]
    };

    NsccWindow() = default;
    NsccWindow(const Rules& rules, const fabric::CongestionControl::Path& path);

    void OnSent(uint32_t payloadBytes);
    void OnAck(const Rules& rules, const fabric::CongestionControl::Ack& ack, uint64_t nowPs);
    void OnTimeout(); ///< All that was in flight is taken for lost

    double Bytes() const
    {
        return m_windowBytes;
    }

    double PayloadBytes() const
    {
        return m_windowBytes / m_wireShare;
    }

    const Constants& Get() const
    {
        return m_is;
    }

    double DelayPs() const ///< Smoothed [ps]
    {
        return m_delayPs;
    }

  private:
    bool QuickAdapt(const Rules& rules, bool isLoss, bool isMarked, double delayPs, uint64_t nowPs);
    void Nack(const Rules& rules, double lostBytes, bool atLastHop, uint64_t nowPs);
    void Smooth(double delayPs, bool isMarked);
    void IncreaseProportionally(double bytes, double delayPs);
    void Decrease(uint64_t nowPs);
    void Fulfil(uint64_t nowPs);
    void Bound();

    Constants m_is{};
    double m_windowBytes{0};
    double m_mostBytes{0};
    double m_packetBytes{0};
    double m_wireShare{1}; ///< Bytes on the wire over payload [1]
    double m_inFlightBytes{0};
    double m_delayPs{0};       ///< Smoothed queueing delay [ps]
    double m_owed{0};          ///< To be added over the window, "inc_bytes" [byte squared]
    double m_arrivedBytes{0};  ///< Since what is owed was added [byte]
    double m_quietBytes{0};    ///< In a row without delay [byte]
    double m_roundBytes{0};    ///< Arrived in the round that may end in a quick adaption [byte]
    double m_ignoredBytes{0};  ///< Heard of since the last one [byte]
    double m_toIgnoreBytes{0}; ///< Were in flight then [byte]
    uint64_t m_baseRttPs{0};
    uint64_t m_networkRttPs{0};
    uint64_t m_roundEndPs{0};  ///< 0: no round yet [ps]
    uint64_t m_decreasedPs{0}; ///< Last time [ps]
    uint64_t m_addedPs{0};     ///< When "eta" was last added [ps]
    bool m_hasLoss{false};     ///< Since the last quick adaption
    bool m_isFast{false};      ///< Fast increase
};

} // namespace ns3

#endif // NSCC_WINDOW_H

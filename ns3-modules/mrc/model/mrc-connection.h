// SPDX-License-Identifier: GPL-2.0-only

#ifndef MRC_CONNECTION_H
#define MRC_CONNECTION_H

#include "mrc-entropies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// Paths that a controller does not allow, for example "3:*,0:17".
class MrcDenylist
{
  public:
    /// A port, by its place at the host, and an entropy, or all of them.
    struct Entry
    {
        uint32_t place;
        std::optional<uint16_t> entropy;
    };

    /// @return the entries of a text, none if it is not well formed
    static std::optional<std::vector<Entry>> Parse(const std::string& text);
    /// Take over what concerns one port.
    static void Apply(const std::vector<Entry>& list, uint32_t place, MrcEntropies::Rules& rules);
};

/**
 * @ingroup mrc
 * @brief What a host knows of the paths to another: entropies by port, and ports of the other host.
 *
 * All messages to one host share it. Each port carries as many packets as any other that is alive,
 * to one packet. A port is alive if its link is up at both ends and some path is not known to be
 * bad.
 *
 * **Source** MRC as ns3-modules/mrc/README.md quotes it: equal load of planes (arXiv 2605.04333,
 * sections 2.1 and 4), a bitmap of ports in SACKs (section 3), a least number of entropies that
 * stay active (mrc_ctl.h, ev_min_active).
 * **Not modelled** Port status updates of their own, beside those in SACKs.
 */
class MrcConnection
{
  public:
    static constexpr uint32_t MOST_PORTS = 32; ///< That a SACK tells of

    /**
     * @param ports entropies of each port of this host
     * @param leastActive so many entropies stay active, whatever is lost
     * @param draws decide the order of entropies
     */
    MrcConnection(std::vector<MrcEntropies> ports,
                  uint32_t leastActive,
                  const fabric::RandomCursor& draws);

    /// @return the ports that are alive, of those that are up here; all of these if none is
    uint32_t Alive(uint32_t up) const;

    /// @return whether a port has sent no more packets than any other that is alive
    bool IsTurnOf(uint32_t place, uint32_t alive) const;

    /**
     * A packet leaves by a port.
     * @param place of the port
     * @param alive ports that are
     * @param suggested an entropy that may be used
     * @return its entropy
     */
    uint16_t Leave(uint32_t place, uint32_t alive, uint16_t suggested);

    /// A packet was lost by a port. @return whether its entropy is one more to probe
    bool Lose(uint32_t place, uint16_t entropy);
    /// Take in which ports of the other host are down.
    void HearPorts(uint32_t down);
    /// @return port and entropy of the next probe, if one is due
    std::optional<std::pair<uint32_t, uint16_t>> TakeProbe(uint64_t nowPs);

    bool HasBad() const; ///< Some entropy is ASSUMED_BAD

    bool IsDownThere(uint32_t place) const ///< The other host's port in this plane
    {
        return (m_downThere >> place) & 1;
    }

    MrcEntropies& Port(uint32_t place)
    {
        return m_ports[place];
    }

    uint32_t NumPorts() const
    {
        return static_cast<uint32_t>(m_ports.size());
    }

    uint64_t nextProbePs{0}; ///< No probe is sent before [ps]

  private:
    std::vector<MrcEntropies> m_ports;
    std::vector<uint64_t> m_sent; ///< Packets of each port; those not alive keep up with the least
    uint32_t m_leastActive;
    uint32_t m_downThere{0}; ///< Ports of the other host, a bit each
    uint32_t m_probeTurn{0};
    fabric::RandomCursor m_draws;
};

} // namespace ns3

#endif // MRC_CONNECTION_H

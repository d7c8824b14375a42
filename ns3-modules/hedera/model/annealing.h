// SPDX-License-Identifier: GPL-2.0-only

#ifndef ANNEALING_H
#define ANNEALING_H

#include "ns3/switch-context.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * @ingroup hedera
 * @brief Ways to destinations that put little more on any link than it carries: simulated
 * annealing.
 *
 * A way is a number: a switch with n shortest paths takes the next digit of it to base n. In a fat
 * tree it names a core switch. All flows to a host go its way, so the search has one number for
 * each host. Hosts of a pod begin with different ways. A step swaps the ways of two hosts: of any
 * two, of two of a pod, or of two of one last switch. The energy is what flows demand of links
 * beyond their rates, in units of the fastest host's link.
 *
 * A pod is the hosts whose last switches have the same first switch above them.
 *
 * **Source**: Hedera (Al-Fares et al., NSDI 2010), section 4.2.
 */
class Annealing
{
  public:
    /// A flow whose way is sought.
    struct Flow
    {
        uint32_t dst;     ///< Host (dense index)
        double demandBps; ///< [bit/s]
    };

    /// Links that a flow, by its place in the list, takes on a way.
    using Walk = std::function<std::vector<fabric::PortId>(size_t flow, uint32_t way)>;

    explicit Annealing(const fabric::SwitchContext& context);

    /**
     * Improve the ways, beginning with those of the last call.
     * @param flows what is to be placed
     * @param walk finds links
     * @param iterations steps, each at a lower temperature
     * @param factor c: a step that adds energy e at temperature T of T0 is taken with probability
     *        exp(-c e T0 / T)
     */
    void Improve(const std::vector<Flow>& flows,
                 const Walk& walk,
                 uint32_t iterations,
                 double factor);

    uint32_t WayTo(uint32_t host) const
    {
        return m_ways[host];
    }

  private:
    using HostsOf = std::unordered_map<uint32_t, std::vector<uint32_t>>; ///< By switch

    void Add(const std::vector<fabric::PortId>& links, double rateBps);
    void SwapWays(uint32_t a, uint32_t b, const std::vector<Flow>& flows, const Walk& walk);
    uint32_t Partner(uint32_t host);

    const fabric::SwitchContext& m_context;
    fabric::RandomCursor m_draws;
    std::vector<uint32_t> m_ways;                     ///< By host
    std::vector<uint32_t> m_lastOf;                   ///< By host: its last switch
    std::vector<uint32_t> m_podOf;                    ///< By host: first switch above that
    HostsOf m_lasts;                                  ///< Hosts of a last switch
    HostsOf m_pods;                                   ///< Hosts of a pod
    std::vector<double> m_loadBps;                    ///< By port [bit/s]
    double m_excessBps{0};                            ///< Of all links [bit/s]
    std::vector<std::vector<size_t>> m_flowsTo;       ///< By host
    std::vector<std::vector<fabric::PortId>> m_links; ///< By flow: where it goes now
};

} // namespace ns3

#endif // ANNEALING_H

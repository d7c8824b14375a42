// SPDX-License-Identifier: GPL-2.0-only

#ifndef MAX_MIN_H
#define MAX_MIN_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/**
 * @defgroup fluid Fluid
 * @brief The same networks and messages at flow level: rates instead of packets.
 */

namespace ns3
{

/**
 * @ingroup fluid
 * @brief Max-min fair rates of flows over links, kept up to date as flows come and go.
 *
 * A flow of rate r takes share x r of each of its links. An allocation is max-min fair if it is
 * feasible and every flow has a bottleneck: a full link on which no flow has a higher rate; there
 * is one such allocation. After a change only the flows near it are filled anew; those whose
 * bottleneck no longer is one, or which take more than a neighbour that is held back there, join
 * them until there are none. What is left untouched then still has its bottleneck, so the result
 * is that of filling all.
 *
 * **Source**: progressive filling, Bertsekas and Gallager, Data Networks, section 6.5.2.
 */
class MaxMin
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    /// What a flow takes of one link, per unit of its rate.
    struct Use
    {
        uint32_t link;
        double share; ///< More than 0 [1]

        bool operator==(const Use&) const = default;
    };

    explicit MaxMin(std::vector<double> capacities);

    void SetCapacity(uint32_t link, double capacity);
    /// @return handle of a new flow with one use at least, each link once
    uint32_t Add(std::vector<Use> uses);
    void Remove(uint32_t flow); ///< Its handle will be used again
    /// Rates after all changes since the last call. @return flows whose rate is another than then
    const std::vector<uint32_t>& Solve();

    /// @return as of the last Solve, 0 before the first one
    double RateOf(uint32_t flow) const
    {
        return m_flows[flow].rate;
    }

    const std::vector<Use>& UsesOf(uint32_t flow) const
    {
        return m_flows[flow].uses;
    }

    /// @return link that is full and on which no flow is faster than this one
    uint32_t BottleneckOf(uint32_t flow) const
    {
        return m_flows[flow].bottleneck;
    }

    double Capacity(uint32_t link) const
    {
        return m_links[link].capacity;
    }

    bool IsAlive(uint32_t flow) const
    {
        return flow < m_flows.size() && m_flows[flow].alive;
    }

    /// @return flows that there are
    size_t Size() const
    {
        return m_flows.size() - m_free.size();
    }

    uint64_t MemoryBytes() const;

    /// @return flows that were filled anew so far, to tell what a change costs
    uint64_t Filled() const
    {
        return m_filled;
    }

  private:
    struct Flow
    {
        std::vector<Use> uses;
        std::vector<uint32_t> places; ///< Of each use: where it stands among those of its link
        double rate{0};
        double next{0}; ///< While filling
        uint32_t bottleneck{NONE};
        uint32_t nextBottleneck{NONE};
        uint64_t round{0}; ///< Last round in which it was in the region
        bool frozen{false};
        bool alive{false};
    };

    /// A flow on a link, and which of its uses that is.
    struct Member
    {
        uint32_t flow;
        uint32_t use;
    };

    struct Link
    {
        double capacity;
        std::vector<Member> members;
        bool dirty{false};
        uint64_t round{0}; ///< Last round in which a flow of the region used it
        double room{0};    ///< Left for flows that are not frozen yet
        double weight{0};  ///< Sum of their shares
        uint32_t open{0};  ///< Their number
        double level{-1};  ///< Rate at which it froze flows, negative if it froze none
        double highest{0}; ///< Of the new rates on it
    };

    void MarkDirty(uint32_t link);
    void Join(uint32_t flow);
    void Begin();
    void OpenLinks();
    void Fill();
    void Freeze(uint32_t link, double level);
    bool Grow();
    void Commit();

    std::vector<Flow> m_flows;
    std::vector<uint32_t> m_free;
    std::vector<Link> m_links;
    std::vector<uint32_t> m_dirty;
    std::vector<uint32_t> m_new;
    std::vector<uint32_t> m_region;                  ///< Flows that are filled anew
    std::vector<uint32_t> m_touched;                 ///< Links they use
    std::vector<std::pair<double, uint32_t>> m_heap; ///< Of levels and links, the lowest first
    std::vector<uint32_t> m_changed;
    uint64_t m_round{0};
    uint64_t m_regionRound{0};
    uint64_t m_filled{0};
};

} // namespace ns3

#endif // MAX_MIN_H

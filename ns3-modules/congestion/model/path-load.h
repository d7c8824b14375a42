// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONGESTION_PATH_LOAD_H
#define CONGESTION_PATH_LOAD_H

#include "ns3/frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3
{

/**
 * @defgroup congestion Congestion control of sender-driven transports
 */

/**
 * @ingroup congestion
 * @brief What a flow knows of the links on its paths, and how loaded the worst of them is.
 *
 * Telemetry counts since the beginning of time, so a load is a difference to what the same egress
 * wrote before. A flow that keeps to one path has one record per hop; a sprayed one has one for
 * each link that it uses, which are seen less often.
 */
class PathLoad
{
  public:
    /// What one egress has done between two packets of a flow.
    struct Change
    {
        double seconds;        ///< Between them [s]
        double sentBytes;      ///< Of the egress [byte]
        double queuedBefore;   ///< Behind the packet before [byte]
        double queuedBytes;    ///< Behind this one [byte]
        double bytesPerSecond; ///< Rate of the link [byte/s]
    };

    /// Load of the link that has most of it.
    struct Worst
    {
        double load;    ///< As the caller has it [1]
        double seconds; ///< Over which it was measured [s]
    };

    /**
     * Take in the telemetry of a packet.
     * @param hops what the switches have written
     * @param loadOf gives the load of a link from its Change
     * @return the link with the largest load, none if all of them are new
     */
    template <typename LoadOf>
    std::optional<Worst> Update(std::span<const fabric::IntHop> hops, LoadOf&& loadOf)
    {
        std::optional<Worst> worst;
        for (const fabric::IntHop& hop : hops)
        {
            if (const auto change = Exchange(hop))
            {
                const double load = loadOf(*change);
                if (!worst || load > worst->load)
                {
                    worst = {load, change->seconds};
                }
            }
        }
        return worst;
    }

    /// Remember what an egress has written. @return what it did since, none if it is new or older
    std::optional<Change> Exchange(const fabric::IntHop& hop);

    /// @return links that are known
    uint32_t Links() const
    {
        return m_links;
    }

  private:
    fabric::IntHop& Find(fabric::PortId port);
    void Grow();

    std::vector<fabric::IntHop> m_records; ///< Hash table by port; NO_PORT: empty place
    uint32_t m_links{0};
};

} // namespace ns3

#endif // CONGESTION_PATH_LOAD_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TRACE_OPTIONS_H
#define FABRIC_TRACE_OPTIONS_H

#include "ns3/section.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// The options of what is recorded.
struct TraceOptions
{
    bool arrivals{false};             ///< Every data packet at its destination host
    bool pauses{false};               ///< Every pause of an egress
    std::optional<uint64_t> samplePs; ///< Period of samples of ports and flows [ps]
    uint32_t snaplenBytes{65535};     ///< Most bytes that are kept of a captured frame [byte]

    bool WantsTelemetry() const
    {
        return arrivals || pauses || samplePs;
    }
};

/**
 * @ingroup fabric
 * @brief The section trace of a scenario.
 */
class Trace : public Section, public TraceOptions
{
  public:
    static TypeId GetTypeId();
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TRACE_OPTIONS_H

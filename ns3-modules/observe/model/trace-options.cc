// SPDX-License-Identifier: GPL-2.0-only

#include "trace-options.h"

#include "ns3/boolean.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Trace);

TypeId
Trace::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Trace")
            .SetParent<Section>()
            .SetGroupName("Observe")
            .AddConstructor<Trace>()
            .AddAttribute("Arrivals",
                          "Also write the table arrivals: one row for each data packet",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TraceOptions::arrivals),
                          MakeBooleanChecker())
            .AddAttribute("Pauses",
                          "Also write the table pauses: one row for each pause of a priority of an "
                          "egress",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TraceOptions::pauses),
                          MakeBooleanChecker())
            .AddAttribute("SamplePs",
                          "Period of samples of queues, links and flows; none takes no samples",
                          OptionalUintegerValue(),
                          MakeOptionalUintegerAccessor(&TraceOptions::samplePs),
                          MakeOptionalUintegerChecker(1))
            .AddAttribute("SnaplenBytes",
                          "Bytes of each frame that a pcap file keeps; 128 B is all headers",
                          UintegerValue(65535),
                          MakeUintegerAccessor(&TraceOptions::snaplenBytes),
                          MakeUintegerChecker<uint32_t>(1, 65535));
    return tid;
}

} // namespace fabric
} // namespace ns3

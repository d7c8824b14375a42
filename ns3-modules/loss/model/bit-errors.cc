// SPDX-License-Identifier: GPL-2.0-only

#include "bit-errors.h"

#include "loss-cursors.h"

#include "ns3/double.h"
#include "ns3/log.h"

#include <cmath>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("BitErrors");
NS_OBJECT_ENSURE_REGISTERED(BitErrors);

TypeId
BitErrors::GetTypeId()
{
    static TypeId tid = TypeId("ns3::BitErrors")
                            .SetParent<LossModel>()
                            .SetGroupName("Loss")
                            .AddConstructor<BitErrors>()
                            .AddAttribute("Ratio",
                                          "Probability that a bit is wrong [1]",
                                          DoubleValue(0.0),
                                          MakeDoubleAccessor(&BitErrors::m_ratio),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
BitErrors::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_logRight = std::log1p(-m_ratio);
    m_draws = LossCursors(context);
}

LossModel::Fate
BitErrors::Judge(PortId receiver, const Frame& frame)
{
    // Without losing the digits of a small ratio.
    const double corrupt = -std::expm1(8.0 * frame.bytes * m_logRight);
    return m_draws[receiver].Real() < corrupt ? Fate::CORRUPT : Fate::ARRIVES;
}

} // namespace ns3

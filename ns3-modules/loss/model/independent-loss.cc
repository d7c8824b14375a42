// SPDX-License-Identifier: GPL-2.0-only

#include "independent-loss.h"

#include "loss-cursors.h"

#include "ns3/double.h"
#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("IndependentLoss");
NS_OBJECT_ENSURE_REGISTERED(IndependentLoss);

TypeId
IndependentLoss::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IndependentLoss")
                            .SetParent<LossModel>()
                            .SetGroupName("Loss")
                            .AddConstructor<IndependentLoss>()
                            .AddAttribute("Ratio",
                                          "Probability that a frame is lost [1]",
                                          DoubleValue(0.0),
                                          MakeDoubleAccessor(&IndependentLoss::m_ratio),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
IndependentLoss::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_draws = LossCursors(context);
}

LossModel::Fate
IndependentLoss::Judge(PortId receiver, const Frame&)
{
    return m_draws[receiver].Real() < m_ratio ? Fate::LOST : Fate::ARRIVES;
}

} // namespace ns3

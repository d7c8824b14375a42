// SPDX-License-Identifier: GPL-2.0-only

#include "gilbert-elliott.h"

#include "loss-cursors.h"

#include "ns3/double.h"
#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("GilbertElliott");
NS_OBJECT_ENSURE_REGISTERED(GilbertElliott);

TypeId
GilbertElliott::GetTypeId()
{
    static TypeId tid = TypeId("ns3::GilbertElliott")
                            .SetParent<LossModel>()
                            .SetGroupName("Loss")
                            .AddConstructor<GilbertElliott>()
                            .AddAttribute("MeanBurst",
                                          "Mean length of the bad state [frame]",
                                          DoubleValue(10.0),
                                          MakeDoubleAccessor(&GilbertElliott::m_meanBurst),
                                          MakeDoubleChecker<double>(1.0))
                            .AddAttribute("MeanGap",
                                          "Mean length of the good state [frame]",
                                          DoubleValue(1e6),
                                          MakeDoubleAccessor(&GilbertElliott::m_meanGap),
                                          MakeDoubleChecker<double>(1.0))
                            .AddAttribute("LossInBad",
                                          "Probability that a frame is lost in the bad state [1]",
                                          DoubleValue(1.0),
                                          MakeDoubleAccessor(&GilbertElliott::m_lossInBad),
                                          MakeDoubleChecker<double>(0.0, 1.0))
                            .AddAttribute("LossInGood",
                                          "Probability that a frame is lost in the good state [1]",
                                          DoubleValue(0.0),
                                          MakeDoubleAccessor(&GilbertElliott::m_lossInGood),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
GilbertElliott::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_draws = LossCursors(context);
    m_bad.clear();
    for (auto& draws : m_draws)
    {
        m_bad.push_back(draws.Real() < m_meanBurst / (m_meanBurst + m_meanGap));
    }
}

LossModel::Fate
GilbertElliott::Judge(PortId receiver, const Frame&)
{
    RandomCursor& draws = m_draws[receiver];
    const bool isBad = m_bad[receiver];
    const bool isLost = draws.Real() < (isBad ? m_lossInBad : m_lossInGood);
    const bool changes = draws.Real() < 1 / (isBad ? m_meanBurst : m_meanGap);
    m_bad[receiver] = isBad != changes;
    return isLost ? Fate::LOST : Fate::ARRIVES;
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#ifndef CHOSEN_PACKETS_H
#define CHOSEN_PACKETS_H

#include "ns3/loss-model.h"

#include <cstdint>
#include <set>
#include <string>

namespace ns3
{

/**
 * @ingroup loss
 * @brief Of one message the data packets with these numbers are lost, each once.
 *
 * What is sent again arrives. Without state of its own, so what is lost is the same for any order
 * of events and any number of links on the path.
 *
 * **Source**: our own; what a tail loss costs is told by one packet.
 *
 * **Not modelled**: losses of acknowledgements, and of packets that are sent again.
 */
class ChosenPackets final : public fabric::LossModel
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    Fate Judge(fabric::PortId receiver, const fabric::Frame& frame) override;

  private:
    std::set<uint64_t> Numbers() const;

    uint64_t m_flow{0};           ///< Id of the message
    std::string m_text;           ///< Numbers of its packets, as they are written
    std::set<uint64_t> m_packets; ///< The same numbers
    uint32_t m_message{0};        ///< Dense index of the message
};

} // namespace ns3

#endif // CHOSEN_PACKETS_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef DOMAIN_BOUNDARY_H
#define DOMAIN_BOUNDARY_H

#include "domain-outbox.h"

#include "ns3/boundary.h"

#include <array>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup parallel
 * @brief The boundary of one domain: a outbox for each other domain, and windows of two parities.
 */
class DomainBoundary final : public Boundary
{
  public:
    void Attach(EngineState& state) override;
    void AddPort(PortId from, uint32_t list, uint64_t delayPs) override;
    void UseLane(PortId from, uint32_t list, uint8_t lane) override;
    void HandOver(PortId from, FrameId frame) override;
    void HandOverAt(PortId from, uint64_t timePs, FrameId frame) override;
    void CountLost(PortId to) override;
    void Tell(uint32_t engine, const Fulfilled& fulfilled) override;

    /// @return until what happens here shows elsewhere, at least [ps]
    uint64_t LeastCrossingPs() const;
    /// Take what other domains have told this one; afterwards their outbox is empty.
    void Import(const std::vector<DomainOutbox*>& outboxes);
    /// The domain of a sender tells how many frames an egress has sent until now.
    void LearnSent(PortId foreign, uint64_t sentFrames);

    DomainOutbox& OutboxTo(uint32_t other, uint32_t parity) ///< In windows of odd or even number
    {
        return m_outboxes[other][parity];
    }

    void SetParity(uint32_t parity) ///< Tell others in such windows from now on
    {
        m_parity = parity;
    }

  private:
    /// Where frames for another domain are put that reach it after one delay.
    struct Crossing
    {
        uint32_t domain;
        uint32_t list;    ///< Of its outbox; LISTS: among the loose ones
        uint64_t delayPs; ///< If it has a list [ps]
    };

    /// Frames of one list that are not yet imported.
    struct Reader
    {
        const DomainOutbox* outbox;
        const DomainOutbox::SentFrame* next;
        const DomainOutbox::SentFrame* end;
        uint8_t lane; ///< Of the queue, for the frames
    };

    uint32_t DomainOf(PortId port) const;
    DomainOutbox& OutboxOf(PortId from);
    void Post(DomainOutbox& outbox,
              std::vector<DomainOutbox::SentFrame>& sent,
              const DomainOutbox::Delivery& delivery,
              FrameId frameId);
    void ImportList(const std::vector<DomainOutbox*>& outboxes, uint32_t list);
    void ImportLoose(const DomainOutbox& outbox);
    FrameId ImportFrame(const DomainOutbox& outbox, const Frame& frame);

    EngineState* m_state{nullptr};
    std::vector<std::array<DomainOutbox, 2>> m_outboxes; ///< By domain: of even, of odd windows
    std::vector<Crossing> m_crossings;
    uint64_t m_leastDelayPs{NEVER_PS}; ///< Of links to other domains [ps]
    /// Lanes of each list of others' outbox: of domains of lower, of higher number
    std::array<std::array<uint8_t, 2>, LISTS> m_inLanes{};
    std::vector<Reader> m_readers; ///< Of the outbox that is being imported
    uint32_t m_parity{0};          ///< Of the window at hand
};

} // namespace fabric
} // namespace ns3

#endif // DOMAIN_BOUNDARY_H

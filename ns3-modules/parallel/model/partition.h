// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PARTITION_H
#define FABRIC_PARTITION_H

#include "ns3/fabric-tables.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Cut a network into domains.
 *
 * A host goes with the switch of its first link. What is joined by short links stays together as
 * far as the domains can still be even, because domains meet once in the least delay between them;
 * of the rest each domain gets an equal share of every tier and plane, by its links.
 *
 * @param tables sorted; dependencies join hosts as links do
 * @param domains at most; a network of fewer switches has fewer
 * @return the domain of each node, in the order of the table
 */
std::vector<uint32_t> Partition(const FabricTables& tables, uint32_t domains);

/**
 * @brief Decide on the domains of a network: each about as large as a core's cache, and at least
 * one for each thread, if windows are long enough for that.
 * @param tables sorted
 * @param threads of the run
 * @return the domain of each node, in the order of the table
 */
std::vector<uint32_t> ChooseDomains(const FabricTables& tables, uint32_t threads);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PARTITION_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SESSION_FILE_H
#define FABRIC_SESSION_FILE_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace fabric
{

class Facade;

/**
 * Load the libraries that a session file names, then tell a facade what the file says.
 *
 * A file is lines of words, as `pyorch session` writes them:
 *
 *     pyorch session 1
 *     library libroce.so
 *     seed 7
 *     stop 1000000000000
 *     part transport 0 ns3::RoceTransport
 *     attribute WindowBytes 430000
 *     link_class 1
 *     column links rate_bps whole 4
 *     800000000000 800000000000 400000000000 400000000000
 *     end
 *
 * A part is a type with its role, the index of its class or transport, and the attributes below it.
 * The value of an attribute is the rest of its line.
 *
 * @param path of the file
 * @param facade that has been told nothing
 * @return when the run ends [ps]
 * @throw std::runtime_error in one line with file, line number and what is wrong
 */
int64_t ReadSessionFile(const std::string& path, Facade& facade);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SESSION_FILE_H

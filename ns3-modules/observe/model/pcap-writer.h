// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PCAP_WRITER_H
#define FABRIC_PCAP_WRITER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief A pcap file with nanosecond time stamps that gets its name when it is whole.
 *
 * Source: the file format of libpcap, version 2.4 (man page pcap-savefile); link type Ethernet.
 * ns3::PcapFile would be another library to load in every run, and only asserts that its stream
 * is good, so that a full disk has no name.
 */
class PcapWriter
{
  public:
    /// Open a file beside `path`; what an unfinished run left there is replaced.
    PcapWriter(const std::string& path, uint32_t snaplenBytes);
    ~PcapWriter(); ///< Without Complete nothing is left
    PcapWriter(const PcapWriter&) = delete;
    PcapWriter& operator=(const PcapWriter&) = delete;

    uint32_t SnaplenBytes() const
    {
        return m_snaplenBytes;
    }

    /**
     * Append a record.
     * @param timePs what is below a nanosecond is cut off [ps]
     * @param data what is known of the frame; at most SnaplenBytes are written
     * @param bytes length of `data` [byte]
     * @param frameBytes length on the wire [byte]
     */
    void Write(uint64_t timePs, const uint8_t* data, size_t bytes, uint32_t frameBytes);

    void Complete(); ///< Close the file and give it its name, in place of an older one

  private:
    void Put(const void* data, size_t bytes);
    [[noreturn]] void Fail() const;

    std::string m_path;
    std::string m_unfinishedPath;
    uint32_t m_snaplenBytes;
    std::FILE* m_file{nullptr};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PCAP_WRITER_H

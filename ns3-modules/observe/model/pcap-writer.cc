// SPDX-License-Identifier: GPL-2.0-only

#include "pcap-writer.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint32_t NANOSECOND_MAGIC = 0xa1b23c4d; ///< In the byte order of this machine
constexpr uint32_t LINKTYPE_ETHERNET = 1;
constexpr uint64_t PS_PER_NS = 1000;
constexpr uint64_t NS_PER_S = 1'000'000'000;
constexpr size_t BUFFER_BYTES = 1 << 18;

struct FileHeader
{
    uint32_t magic{NANOSECOND_MAGIC};
    uint16_t major{2};
    uint16_t minor{4};
    uint64_t reserved{0};
    uint32_t snaplen;
    uint32_t linkType{LINKTYPE_ETHERNET};
};

static_assert(sizeof(FileHeader) == 24, "no gaps");

struct RecordHeader
{
    uint32_t seconds;
    uint32_t nanoseconds;
    uint32_t capturedBytes;
    uint32_t frameBytes;
};

static_assert(sizeof(RecordHeader) == 16, "no gaps");

/// @return hidden name in the same folder: for one path always the same, so none is left for ever
std::string
UnfinishedPath(const std::string& path)
{
    const size_t name = path.find_last_of('/') + 1; // npos + 1 is 0
    return path.substr(0, name) + "." + path.substr(name) + ".tmp";
}

} // namespace

PcapWriter::PcapWriter(const std::string& path, uint32_t snaplenBytes)
    : m_path(path),
      m_unfinishedPath(UnfinishedPath(path)),
      m_snaplenBytes(snaplenBytes),
      m_file(std::fopen(m_unfinishedPath.c_str(), "wb"))
{
    if (!m_file)
    {
        Fail();
    }
    std::setvbuf(m_file, nullptr, _IOFBF, BUFFER_BYTES);
    FileHeader header;
    header.snaplen = snaplenBytes;
    Put(&header, sizeof(header));
}

PcapWriter::~PcapWriter()
{
    if (m_file)
    {
        std::fclose(m_file);
        std::remove(m_unfinishedPath.c_str());
    }
}

void
PcapWriter::Write(uint64_t timePs, const uint8_t* data, size_t bytes, uint32_t frameBytes)
{
    const uint64_t timeNs = timePs / PS_PER_NS;
    const auto captured = static_cast<uint32_t>(std::min<size_t>(bytes, m_snaplenBytes));
    const RecordHeader header{static_cast<uint32_t>(timeNs / NS_PER_S),
                              static_cast<uint32_t>(timeNs % NS_PER_S),
                              captured,
                              frameBytes};
    Put(&header, sizeof(header));
    Put(data, captured);
}

void
PcapWriter::Put(const void* data, size_t bytes)
{
    if (std::fwrite(data, 1, bytes, m_file) != bytes)
    {
        Fail();
    }
}

void
PcapWriter::Complete()
{
    std::FILE* file = m_file;
    m_file = nullptr;
    // Some file systems say only now that there is no room.
    if (std::fclose(file) != 0 || std::rename(m_unfinishedPath.c_str(), m_path.c_str()) != 0)
    {
        Fail();
    }
}

void
PcapWriter::Fail() const
{
    const int reason = errno;
    const bool isFull = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    NS_ABORT_MSG(
        "capture: " << m_path << " cannot be written: " << std::strerror(reason)
                    << (isFull ? ". Free some space, or keep less of each frame (snaplen)." : ""));
}

} // namespace fabric
} // namespace ns3

/* Numbers of fields of Perfetto's packets that several files write: see perfetto.c. */
#ifndef PERFLUA_EXPORT_PERFETTO_H
#define PERFLUA_EXPORT_PERFETTO_H

#include "protobuf.h"

#define TRACE_PACKET 1 /* Trace.packet, trace/trace.proto */

/* TracePacket, trace/trace_packet.proto */
enum packet_field {
	FTRACE_EVENTS = 1,
	PROCESS_TREE = 2,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	SYSTEM_INFO = 45,
	PACKET_DEFAULTS = 59,
	TRACK_DESCRIPTOR = 60,
	PERF_SAMPLE = 66,
	FIRST_PACKET = 87,
};

/* TrackDescriptor, trace/track_event/track_descriptor.proto */
enum {
	TRACK_UUID = 1,
	TRACK_NAME,
	TRACK_PROCESS,
	TRACK_THREAD,
	TRACK_PARENT,
};

/* Adds the track of a process to a packet: its name, unless name.p is NULL. */
void pe_add_process_track(struct pb_string *packet, uint32_t uuid, int32_t pid,
			  struct pd_text name);

#endif

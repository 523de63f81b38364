/**
 * How many threads serve files, the database and look-ups of names. A dead name server holds up to eight of them
 * (`kernel/outbound.ts`); with Node's four, the database would wait for it. Read when the first thread starts, so this comes first.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

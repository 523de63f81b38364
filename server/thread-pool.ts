/**
 * Threads for files, the database and DNS lookups. libuv runs lookups on at most half of them: with Node's default of four, two names
 * whose DNS server is down would hold up every other lookup. libuv reads this when the first thread starts, so import it first.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

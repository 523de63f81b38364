/**
 * How many threads serve files, the database and look-ups of names. libuv gives look-ups at most half of them: with Node's four, two
 * names whose server is dead would keep every other name waiting. Read when the first thread starts, so this comes first.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

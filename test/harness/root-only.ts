/** Imported by tests that give files to somebody else, which only root may do. Elsewhere `npm test` leaves them out. */
if (process.getuid?.() !== 0) throw new Error("this test gives files to another user: run it as root");

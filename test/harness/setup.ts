import { useKeyStock } from "./key-stock.ts";

/**
 * Before each test file: files share a process, and a server that ran in it has told the typesetter that there are no fonts but
 * its own. Browsers and judges of the next file would believe it.
 */
delete process.env.FONTCONFIG_FILE;

useKeyStock();

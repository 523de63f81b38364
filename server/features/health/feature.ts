import type { Feature } from "../../feature.ts";
import { endpoints } from "./contract.ts";

/** `appliance`, which looks at everything, answers them. */
export const feature: Feature = { endpoints };

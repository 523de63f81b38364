import type { Feature } from "../../feature.ts";
import { endpoints } from "./contract.ts";
import { bindings } from "./routes.ts";

export const feature: Feature = { endpoints, handlers: ({ loopback }) => bindings(loopback) };

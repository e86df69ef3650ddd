import type { Health } from './answers';
import { optional, record, text, truth } from './shapes';

export const HEALTH = record<Health>({ version: text, enabled: optional(truth) });

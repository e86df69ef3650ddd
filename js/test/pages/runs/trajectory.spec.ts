import { describe, expect, it } from 'vitest';

import { pairSteps, stepsOf } from '../../../src/pages/runs/trajectory';
import { messages } from './answers';

const PIXEL = 'data:image/png;base64,AAAA';

describe('steps', () => {
  it('are who said what, and what was asked for', () => {
    const steps = stepsOf(messages('x = 1', 'Done.'));
    expect(steps.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant'
    ]);
    expect(steps[1]?.text).toBe('Sum the column.');
    expect(steps[2]?.calls).toEqual([
      { name: 'run_cell', code: 'x = 1', argumentsText: expect.any(String) as string }
    ]);
    expect(steps[3]).toMatchObject({ name: 'run_cell', text: '42' });
  });

  it('show broken arguments as the model wrote them', () => {
    const call = { id: 'c', function: { name: 'run_cell', arguments: '{"code": "x' } };
    const [step] = stepsOf([{ role: 'assistant', content: null, tool_calls: [call] }]);
    expect(step?.calls).toEqual([{ name: 'run_cell', code: '', argumentsText: '{"code": "x' }]);
  });

  it('draw only pictures that come with the message', () => {
    const part = (url: string) => ({ type: 'image_url', image_url: { url } });
    const content = [
      part(PIXEL),
      part('https://evil.example/x.png'),
      part('data:image/svg+xml;base64,AAAA'),
      part('javascript:alert(1)')
    ];
    expect(stepsOf([{ role: 'user', content }])[0]?.pictures).toEqual([PIXEL]);
  });

  it('survive messages of no shape at all', () => {
    const steps = stepsOf([{}, { role: 7, content: 7, tool_calls: [1, {}] }, { role: 'tool' }]);
    expect(steps.map(({ role, text }) => [role, text])).toEqual([
      ['user', ''],
      ['user', ''],
      ['tool', '']
    ]);
  });
});

describe('two samples', () => {
  const parting = (one: Parameters<typeof stepsOf>[0], other: typeof one): number =>
    pairSteps(stepsOf(one), stepsOf(other)).findIndex(({ isDivergence }) => isDivergence);

  it('part where they do something else for the first time, and only there', () => {
    const pairs = pairSteps(stepsOf(messages('x = 1', 'a')), stepsOf(messages('x = 2', 'b')));
    expect(pairs.map(({ isDivergence }) => isDivergence)).toEqual([
      false,
      false,
      true,
      false,
      false
    ]);
  });

  it('do not part over spaces, addresses and the order of arguments', () => {
    const one = messages('print(x)  \n', 'See <a at 0x7f00aabbcc>.');
    const other = messages('print(x)', 'See <a at 0x7f11ddeeff>.');
    expect(parting(one, other)).toBe(-1);
    const call = (written: string) => [
      { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 't', arguments: written } }] }
    ];
    expect(parting(call('{"a": 1, "b": [2]}'), call('{"b":[2],"a":1}'))).toBe(-1);
    expect(parting(call('{"a": 1}'), call('{"a": 2}'))).toBe(0);
  });

  it('do not part over what is said beside the same deed', () => {
    const [system, user, deed] = messages('x = 1', '');
    const talking = { ...deed, content: 'Let me see.' };
    const all = (step: typeof deed) => [system, user, step].map(message => message ?? {});
    expect(parting(all(deed), all(talking))).toBe(-1);
  });

  it('part where one has ended, and where another one speaks', () => {
    const whole = messages('x = 1', 'a');
    expect(parting(whole, whole.slice(0, 3))).toBe(3);
    expect(parting([{ role: 'user', content: 'a' }], [{ role: 'tool', content: 'a' }])).toBe(0);
    expect(pairSteps(stepsOf(whole), [])[4]).toMatchObject({ second: null, isDivergence: false });
  });
});

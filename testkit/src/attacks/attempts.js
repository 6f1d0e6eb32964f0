// What attackers' pages share: each attempt at the address `victim` leaves in `report` what came of it.
const report = {};

const attempt = async (name, work) => {
  const late = new Promise((done) => setTimeout(() => done("refused: nothing came of it"), 5000));
  try {
    report[name] = await Promise.race([work(), late]);
  } catch (error) {
    report[name] = `refused: ${error.name}`;
  }
};

const get = (path, options) => async () => {
  const answer = await fetch(victim + path, options);
  return `${answer.type} ${answer.status} ${await answer.text()}`;
};

const tag = (name, attributes) => () =>
  new Promise((done) => {
    const element = document.createElement(name);
    element.onload = () => done("loaded");
    element.onerror = () => done("refused: error");
    Object.assign(element, attributes);
    document.body.append(element);
  });
